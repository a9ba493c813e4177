import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseOptions } from '../../src/settings/parse-options.ts';
import { httpServer, type TlsServer } from '../support/http/tls-server.ts';
import { authorityFile, serviceCertificate } from '../support/service/authority.ts';
import { createSite } from '../support/site/site.ts';

const count = 10_000;
const { concurrency: defaultConcurrency } = parseOptions({});
const page = `<html><body>${Array.from({ length: count }, (_, index) => `<snippet-embed id="${index + 1}"></snippet-embed>`).join('\n')}</body></html>`;

/** Handles a request. Returns whether it sends the content. */
type Answer = (...all: Parameters<Parameters<typeof httpServer>[0]>) => boolean;

function dying(): Answer {
  let since = 0;
  return (_request, response) => {
    since ||= performance.now();
    const isAlive = performance.now() - since < 5_000;
    if (isAlive) setTimeout(() => response.end('{"content":"fine"}'), 300);
    else response.stream?.destroy();
    return isAlive;
  };
}

/** How a service can be down, and how many requests may fail. */
const services: [what: string, failed: number, answer: Answer | undefined][] = [
  ['answers every request with 503', 100, (_request, response) => !response.writeHead(503).end()],
  ['hangs', 100, () => false],
  ['refuses connections', 100, undefined],
  // Plus as many requests as may be under way when it dies.
  ['dies after five seconds', 100 + defaultConcurrency, dying()],
];

/** How long a process has waited for a processor, in seconds. Time taken by other work does not count. */
function queuedOf(pid: number | undefined): number | undefined {
  const file = `/proc/${pid}/schedstat`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[1]) / 1e9 : undefined;
}

test.concurrent.each(services)(
  'a build of 10,000 snippets against a service that %s ends with one report, within two minutes',
  async (_what, failed, answer) => {
    let asked = 0;
    let answered = 0;
    let server: TlsServer | undefined;
    if (answer !== undefined) {
      const counted: typeof answer = (request, response) => {
        asked += 1;
        const isAnswered = answer(request, response);
        if (isAnswered) answered += 1;
        return isAnswered;
      };
      server = await httpServer(counted, { using: serviceCertificate() });
    }
    const site = await createSite({ 'public/index.html': page, 'src/pages/plain.astro': '<p>Plain</p>' });
    const start = performance.now();
    const { process: child, ended } = site.start(['build'], {
      SNIPPETS_API_KEY: 'sk_of_a_dead_service',
      SNIPPETS_RENDER_BASE_URL: server?.origin ?? 'https://127.0.0.1:9',
      NODE_EXTRA_CA_CERTS: authorityFile(),
    });
    let queued = 0;
    const looking = setInterval(() => {
      queued = queuedOf(child.pid) ?? queued;
    }, 500);
    const { exitCode, output } = await ended;
    clearInterval(looking);
    const seconds = (performance.now() - start) / 1000 - queued;
    await server?.close();
    await site.remove();
    process.stderr.write(
      `${_what}: ${Math.round(seconds)} s and ${Math.round(queued)} s in a queue, ${asked} requests, ${answered} answered\n`,
    );
    expect(exitCode).toBe(1);
    expect(output.match(/snippets could not be fetched/g)).toHaveLength(1);
    const reported = [...output.matchAll(/^(?:(\d+) snippets|Snippet \d+): /gm)];
    expect(reported.reduce((sum, [, many = '1']) => sum + Number(many), 0)).toBe(count - answered);
    expect(output.split('\n').length).toBeLessThan(200);
    expect(seconds).toBeLessThan(120);
    expect(asked - answered).toBeLessThan(failed);
  },
);
