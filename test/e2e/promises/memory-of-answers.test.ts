import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { longAnswers } from '../../support/http/long-answers.ts';
import { certificate, httpServer, rawServer, type TlsServer } from '../../support/http/tls-server.ts';
import { apiKey, serve } from '../../support/http/wire.ts';
import { folderWith } from '../../support/site/folder.ts';

test('memory grows by less than 50 MB, whatever the service sends', async () => {
  const servers: TlsServer[] = [];
  for (const [, , answer] of longAnswers) servers.push(await serve(rawServer(answer)));
  const fine = await serve(httpServer((_, response) => void response.end('{"content":""}')));
  const source = (name: string) =>
    JSON.stringify(join(import.meta.dirname, `../../../src/client/${name}.ts`));
  const folder = await folderWith({
    'ask.mts': `import { SnippetClient } from ${source('index')};
     const ask = async (origin: string) => {
       const options = { apiKey: ${JSON.stringify(apiKey)}, renderBaseUrl: origin, patience: 0, ca: ${JSON.stringify(certificate.ca)} };
       const client = new SnippetClient(options, { limits: { attempts: 3, retryBase: 1, attemptTimeout: 60_000 } });
       const code = await client.get(1).then(() => 'fine', (error) => error.code);
       await client.close();
       return code;
     };
     // Warms up, so that the memory of any client is not measured.
     for (let turn = 0; turn < 5; turn++) await ask(${JSON.stringify(fine.origin)});
     const before = process.resourceUsage().maxRSS;
     const codes = [];
     for (const origin of ${JSON.stringify(servers.map(({ origin }) => origin))}) codes.push(await ask(origin));
     console.log(JSON.stringify({ codes, grown: (process.resourceUsage().maxRSS - before) / 1024 }));`,
  });
  // Otherwise V8's young generation takes up to 48 MB, depending on the load of the machine.
  const args = ['--max-semi-space-size=1', join(folder.directory, 'ask.mts')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  const { codes, grown } = JSON.parse(stdout);
  expect(codes).toEqual(longAnswers.map(([, code]) => code));
  // The peak, in MB.
  expect(grown).toBeLessThan(50);
});
