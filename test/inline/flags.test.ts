import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { cli } from '../support/cli.ts';
import { createFolder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ids = [1, 2, 3, 4];
let service: TestService;

beforeAll(async () => {
  service = await startTestService(Object.fromEntries(ids.map((id) => [id, `content ${id}`])));
});
beforeEach(() => service.clearFaults());
afterAll(() => service.close());

async function folderOfPages() {
  const folder = await createFolder(
    Object.fromEntries(ids.map((id) => [`public/${id}.html`, `<snippet-embed id="${id}"></snippet-embed>`])),
  );
  onTestFinished(() => folder.remove());
  const inline = (...flags: string[]) =>
    cli(folder.directory, ['inline', 'public', ...flags], service.environment);
  return { folder, inline };
}

test('--retrieve-base-url and --render-base-url are asked instead of those of the environment', async () => {
  const { folder, inline } = await folderOfPages();
  const { SNIPPETS_API_KEY, NODE_EXTRA_CA_CERTS } = service.environment;
  const run = (flag: string, url: string) =>
    cli(folder.directory, ['inline', 'public', flag, url], { SNIPPETS_API_KEY, NODE_EXTRA_CA_CERTS });
  expect(await run('--retrieve-base-url', service.retrieveBaseUrl)).toMatchObject({ exitCode: 0 });
  expect(new Set(service.requests().map(({ variant }) => variant))).toEqual(new Set(['retrieve']));
  expect(await folder.read('public/1.html')).toBe('content 1');
  const { output } = await inline('--render-base-url', 'http://localhost:1');
  expect(output).toContain('renderBaseUrl');
});

test('--exclude leaves the files of these patterns, and their embeds, as they are', async () => {
  const { folder, inline } = await folderOfPages();
  expect(await inline('--exclude', '1.html', '2.*')).toMatchObject({ exitCode: 0 });
  const files = Object.values(await folder.files('public'));
  expect(files.map((text) => text.startsWith('<snippet-embed'))).toEqual([true, true, false, false]);
});

test('--concurrency is how many requests are under way at once', async () => {
  const { folder, inline } = await folderOfPages();
  let arrived = 0;
  const held = service.hold(() => arrived++ < 2);
  const before = service.requests().length;
  const ended = inline('--concurrency', '2');
  await held.asked(2);
  // A third one would have been sent with these two, and answered before this.
  await cli(folder.directory, ['get', '1'], service.environment);
  expect(service.requests().length - before).toBe(1);
  held.release();
  expect(await ended).toMatchObject({ exitCode: 0 });
  expect(await inline('--concurrency', '0')).toMatchObject({ exitCode: 2 });
});

test('--offline takes what the cache has, --stale-if-error what it had when the service is down', async () => {
  const { folder, inline } = await folderOfPages();
  const files = await folder.files('public');
  expect(await inline('--offline')).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining('not-cached'),
  });
  expect(await inline('--stale-if-error', '1d')).toMatchObject({ exitCode: 0 });
  await folder.write(Object.fromEntries(ids.map((id) => [`public/${id}.html`, files[`${id}.html`] ?? ''])));
  const asked = service.requests().length;
  expect(await inline('--offline')).toMatchObject({ exitCode: 0 });
  expect(service.requests()).toHaveLength(asked);
  expect(await folder.read('public/4.html')).toBe('content 4');
});
