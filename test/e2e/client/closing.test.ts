import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { certificate, httpServer, tunnelProxy } from '../../support/http/tls-server.ts';
import { apiKey, serve } from '../../support/http/wire.ts';
import { folderWith } from '../../support/site/folder.ts';

// Whether a process survives, and whether it ends: each client runs in its own process.

const content = JSON.stringify({ content: 'fine' });

/** Runs a script in its own process. Returns what it prints. */
async function outputOf(code: string, environment: Record<string, string> = {}): Promise<string> {
  const folder = await folderWith({ 'script.mts': code });
  const file = join(folder.directory, 'script.mts');
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 60_000, env });
  return stdout.trim();
}

test.for(['directly', 'through a proxy'] as const)(
  'closing a client whose HTTP/2 streams (%s) were aborted or reset does not end the process',
  async (how) => {
    const proxy = how === 'directly' ? undefined : await serve(tunnelProxy());
    let asked = 0;
    const server = await serve(
      httpServer((_, response) => {
        asked += 1;
        response.on('error', () => {});
        if (asked % 4 === 0) return;
        if (asked % 4 === 1) response.write('{"con');
        else if (asked % 4 === 2) response.stream.close(2);
        else void setTimeout(asked % 7).then(() => response.end(content));
      }),
    );
    const output = await outputOf(
      `import { setTimeout } from 'node:timers/promises';
     import { SnippetClient } from ${JSON.stringify(join(import.meta.dirname, '../../../src/client/index.ts'))};
     const options = ${JSON.stringify({ apiKey, renderBaseUrl: server.origin, ca: certificate.ca, concurrency: 100 })};
     for (let round = 0; round < 25; round++) {
       const client = new SnippetClient(options);
       const controller = new AbortController();
       const all = Array.from({ length: 200 }, (_, id) =>
         client.get(id + 1, undefined, { signal: controller.signal }).catch(() => {}));
       await setTimeout(10 + 2 * round);
       controller.abort();
       await setTimeout(50);
       await client.close();
       await Promise.all(all);
     }
     console.log('closed');`,
      { NO_PROXY: '', no_proxy: '', HTTPS_PROXY: proxy?.origin ?? '' },
    );
    expect(output).toBe('closed');
    expect(proxy?.asked.length).not.toBe(0);
  },
);

test('answers to HTTP/2 requests that were just aborted do not crash the process if the connection closes while the event loop is blocked', async () => {
  const path = (name: string) => JSON.stringify(join(import.meta.dirname, '../../..', name));
  // In the client's process, so that both are blocked at the same time.
  const output = await outputOf(
    `import { setTimeout } from 'node:timers/promises';
     import { defaultLimits } from ${path('src/client/limits.ts')};
     import { httpsTransport } from ${path('src/client/transport/https.ts')};
     import { certificate, httpServer } from ${path('test/support/http/tls-server.ts')};
     let ends = 0;
     process.on('uncaughtException', () => { ends += 1; });
     const server = await httpServer((_, response) => response.end('{}'));
     const transport = httpsTransport({ ca: certificate.ca, concurrency: 100, limits: defaultLimits });
     const controller = new AbortController();
     await Promise.all(Array.from({ length: 400 }, () =>
       transport.send({ url: server.origin, headers: {}, timeout: 60_000 }, controller.signal)
         .then(() => controller.abort(), () => {})));
     // Undici closes connections after four idle seconds.
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
     await setTimeout(100);
     console.log(ends);
     process.exit();`,
  );
  expect(output).toBe('0');
});
