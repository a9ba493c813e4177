import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseOptions } from '../../src/settings/options.ts';
import { createSite } from '../support/site.ts';
import { certificate, httpServer, type TlsServer } from '../support/tls-server.ts';

const count = 10_000;
const { concurrency: defaultConcurrency } = parseOptions({});
const page = `<html><body>${Array.from({ length: count }, (_, index) => `<snippet-embed id="${index + 1}"></snippet-embed>`).join('\n')}</body></html>`;

/** Answers a request or not. Returns whether it sent the content. */
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

/** How a service can be down. */
const services: [what: string, failed: number, answer: Answer | undefined][] = [
  ['answers every request with 503', 100, (_request, response) => !response.writeHead(503).end()],
  ['hangs', 100, () => false],
  ['refuses connections', 100, undefined],
  // As many more as may be under way by then: the answers to them make new ones, and nothing else tells yet.
  ['dies after five seconds', 100 + defaultConcurrency, dying()],
];

test.concurrent.each(services)(
  'a build of 10,000 snippets against a service that %s ends with one report, within two minutes',
  async (_what, failed, answer) => {
    const folder = await mkdtemp(join(tmpdir(), 'snippets-dead-'));
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, certificate.ca);
    let asked = 0;
    let answered = 0;
    let server: TlsServer | undefined;
    if (answer !== undefined) {
      server = await httpServer((request, response) => {
        asked += 1;
        if (answer(request, response)) answered += 1;
      });
    }
    const site = await createSite({ 'public/index.html': page, 'src/pages/plain.astro': '<p>Plain</p>' });
    const start = performance.now();
    const { exitCode, output } = await site.build({
      SNIPPETS_API_KEY: 'sk_of_a_dead_service',
      SNIPPETS_RENDER_BASE_URL: server?.origin ?? 'https://127.0.0.1:9',
      NODE_EXTRA_CA_CERTS: authority,
    });
    const seconds = (performance.now() - start) / 1000;
    await server?.close();
    await site.remove();
    await rm(folder, { recursive: true });
    process.stderr.write(`${_what}: ${Math.round(seconds)} s, ${asked} requests, ${answered} answered\n`);
    expect(exitCode).toBe(1);
    expect(output.match(/snippets could not be fetched/g)).toHaveLength(1);
    const reported = [...output.matchAll(/^(?:(\d+) snippets|Snippet \d+): /gm)];
    expect(reported.reduce((sum, [, many = '1']) => sum + Number(many), 0)).toBe(count - answered);
    expect(output.split('\n').length).toBeLessThan(200);
    expect(seconds).toBeLessThan(120);
    expect(asked - answered).toBeLessThan(failed);
  },
);
