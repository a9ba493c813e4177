import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startRecorder } from '../../support/http/recorder.ts';
import { webhookSecret } from '../../support/service/signed-call.ts';
import { sharedSite } from '../../support/site/built-site.ts';
import { cli, startWatch } from '../../support/tools/cli.ts';
import { codeBelow } from '../../support/tools/docs.ts';
import { cleanEnvironment } from '../../support/tools/environment.ts';

// Runs the recipes unchanged in a POSIX shell, which Windows does not have, with curl, awk and openssl.
const describeRecipe = describe.skipIf(process.platform === 'win32');

const [purge = '', watchAndPurge = ''] = codeBelow('Purge a CDN by URL', 'sh', 'docs/publishing.md');
const [hook = ''] = codeBelow('Tell a build hook what has changed', 'sh', 'docs/publishing.md');
const [sender = ''] = codeBelow('What the sender has to do', 'sh', 'docs/push.md');
/** The command of the recipe, without `npm run`. */
const commandOf = (recipe: string) =>
  (/--exec '([^']*)'/.exec(recipe)?.[1] ?? '').replace(/^npm run \w+ && /, '');

const urls = Array.from({ length: 65 }, (_, page) => `https://example.com/${page}/`).toSorted();

const api = await startRecorder();
const { service, site } = await sharedSite(
  { 1: 'first', 2: 'alone' },
  {
    'astro.config.mjs': `import snippets from 'astro-snippets';
export default { site: 'https://example.com', integrations: [snippets()] };`,
    'src/pages/[page].astro': `---
export const getStaticPaths = () => Array.from({ length: 65 }, (_, page) => ({ params: { page: String(page) } }));
---
<p><snippet-embed id="1"></snippet-embed></p>`,
    'src/pages/alone.astro': '<p><snippet-embed id="2"></snippet-embed></p>',
    'purge.sh': purge,
  },
);
await site.builds();
beforeEach(() => {
  service.put(1, 'first');
  service.put(2, 'alone');
  Object.assign(api, { calls: [], status: 200 });
});
afterAll(() => api.close());

const check = (command: string) =>
  cli(site.directory, ['check', '--exec', command], {
    ...service.environment,
    CLOUDFLARE_API: api.url,
    CLOUDFLARE_ZONE: 'zone',
    CLOUDFLARE_TOKEN: 'token',
    BUILD_HOOK: `${api.url}/hook`,
  });

/** Removes the record until the test has ended. */
async function removeRecord(): Promise<void> {
  const record = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
  const written = await site.read('../node_modules/.astro/astro-snippets/manifest.json');
  await rm(record);
  onTestFinished(() => writeFile(record, written));
}

describeRecipe('the recipe for a purge by URL', () => {
  const command = commandOf(watchAndPurge);
  const purged = () => api.calls.map(({ body }) => JSON.parse(body).files as string[]);

  test('purges the changed URLs, 30 with each call', async () => {
    expect(command).toBe('sh purge.sh');
    service.put(1, 'second');
    const { exitCode, output } = await check(command);
    expect(exitCode, output).toBe(0);
    expect(purged().map(({ length }) => length)).toEqual([30, 30, 5]);
    expect(purged().flat().toSorted()).toEqual(urls);
    for (const { path, authorization } of api.calls) {
      expect([path, authorization]).toEqual(['/zones/zone/purge_cache', 'Bearer token']);
    }
  });

  test('purges everything if it is not known what has changed', async () => {
    await removeRecord();
    await check(command);
    expect(api.calls.map(({ body }) => JSON.parse(body))).toEqual([{ purge_everything: true }]);
  });

  test('fails with the first call that fails, and purges the same URLs the next time', async () => {
    service.put(1, 'second');
    api.status = 500;
    expect((await check(command)).exitCode).toBe(1);
    expect(api.calls).toHaveLength(1);
    service.put(1, 'first');
    Object.assign(api, { calls: [], status: 200 });
    expect((await check(command)).exitCode).toBe(0);
    expect(purged().flat().toSorted()).toEqual(urls);
  });
});

describeRecipe('the recipe for a build hook', () => {
  test('posts the changed URLs, or an empty body if they are not known', async () => {
    service.put(2, 'other');
    expect((await check(commandOf(hook))).exitCode).toBe(0);
    await removeRecord();
    await check(commandOf(hook));
    expect(api.calls).toMatchObject([
      { path: '/hook', body: 'https://example.com/alone/\n' },
      { path: '/hook', body: '' },
    ]);
  });
});

describeRecipe('the example for a sender', () => {
  test('is accepted each time, and refused with another secret', async () => {
    expect(sender).toContain('openssl dgst');
    const environment = { ...service.environment, SNIPPETS_WEBHOOK_SECRET: webhookSecret };
    const watching = startWatch(
      site.directory,
      ['watch', '--listen', '127.0.0.1:0', '--every', '1h'],
      environment,
    );
    await expect.poll(watching.output).toContain('Listening for signed calls at');
    const [, WEBHOOK_URL = ''] = /calls at (\S+)/.exec(watching.output()) ?? [];
    const send = (secret: string) => {
      const env = { ...cleanEnvironment(), WEBHOOK_URL, SNIPPETS_WEBHOOK_SECRET: secret };
      return promisify(execFile)('sh', ['-euc', sender], { env });
    };
    for (const text of ['second', 'third']) {
      service.put(2, text);
      expect(await send(webhookSecret)).toEqual({ stdout: '', stderr: '' });
      await expect.poll(() => site.read('alone/index.html')).toContain(text);
    }
    await expect(send(`whsec_${'A'.repeat(32)}`)).rejects.toThrow('401');
  });
});
