import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { manifestFile } from '../../src/record/record-paths.ts';
import { temporaryService } from '../support/service/service.ts';
import { folderWith } from '../support/site/folder.ts';
import { configWith, type Site, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';

test('two sites with one cacheDir have a record each, and the error for a wrong --manifest lists them', async () => {
  const { directory: cacheDir } = await folderWith({});
  const service = await temporaryService({ 1: 'old' });
  const files = {
    'astro.config.mjs': configWith('', { settings: `cacheDir: ${JSON.stringify(cacheDir)},` }),
    'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  };
  const [first, second] = [await temporarySite(files), await temporarySite(files)];
  const recordOf = ({ directory: root }: Site) =>
    manifestFile({ cacheDir, root, outDir: join(root, 'dist') });
  const run = (site: Site, command: string, record = recordOf(site)) =>
    cli(site.directory, ['--manifest', record, command], service.environment);
  expect(await first.build(service.environment)).toMatchObject({ exitCode: 0 });
  service.put(1, 'new');
  expect(await second.build(service.environment)).toMatchObject({ exitCode: 0 });
  expect(await run(second, 'check')).toMatchObject({ exitCode: 0 });
  expect(await run(first, 'check')).toMatchObject({ exitCode: 10 });
  expect(await run(first, 'refresh')).toMatchObject({ exitCode: 0 });
  expect(await first.read('index.html')).toContain('<p>new</p>');
  const { exitCode, output } = await run(first, 'check', join(cacheDir, 'astro-snippets/manifest.json'));
  expect(exitCode).toBe(3);
  for (const site of [first, second]) expect(output).toContain(basename(recordOf(site)));
  expect(output).toMatch(/Other records: .*dist \(.*, .*dist \(/);
});

test('in a cacheDir outside the project, a record keeps its name when both are moved', () => {
  const nameAt = (place: string, cache: string) => {
    const root = join(place, 'site');
    return basename(manifestFile({ cacheDir: join(place, cache), root, outDir: join(root, 'dist') }));
  };
  expect(nameAt('/srv', 'cache')).toMatch(/^manifest\.[0-9a-f]{8}\.json$/);
  expect(nameAt('/moved', 'cache')).toBe(nameAt('/srv', 'cache'));
  expect(nameAt('/srv', 'site/.cache')).toBe('manifest.json');
});

test('a record in the output does not count as a file made from its pages', async () => {
  const service = await temporaryService({ 1: 'a text that is long enough' });
  const site = await temporarySite({
    'astro.config.mjs': configWith('', { settings: `cacheDir: './dist/.cache',` }),
    'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  });
  expect(await site.build(service.environment)).toMatchObject({ exitCode: 0 });
  service.put(1, 'new');
  const refresh = ['--manifest', 'dist/.cache/astro-snippets/manifest.json', 'refresh'];
  expect(await cli(site.directory, refresh, service.environment)).toMatchObject({ exitCode: 0 });
});
