import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { manifestFile } from '../../src/record/manifest-file.ts';
import { cli } from '../support/cli.ts';
import { createFolder } from '../support/folder.ts';
import { startTestService } from '../support/service.ts';
import { configWith, type Site, temporarySite } from '../support/site.ts';

test('two sites with one cacheDir have a record each, and a wrong --manifest says which', async () => {
  const cache = await createFolder({});
  const service = await startTestService({ 1: 'old' });
  onTestFinished(() => Promise.all([cache.remove(), service.close()]).then(() => undefined));
  const cacheDir = cache.directory;
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
  expect(output).toMatch(/There is one of .*dist \(.*, and one of .*dist \(/);
});

test.each([
  ['in the project', '/srv/site/.cache', '/srv/site', 'dist', /^manifest\.json$/],
  [
    'in the project, with another output',
    '/srv/site/.cache',
    '/srv/site',
    'public',
    /^manifest\.public\.json$/,
  ],
  ['elsewhere', '/srv/cache', '/srv/site', 'dist', /^manifest\.[0-9a-f]{8}\.json$/],
  [
    'elsewhere, with another output',
    '/srv/cache',
    '/srv/site',
    'public',
    /^manifest\.public\.[0-9a-f]{8}\.json$/,
  ],
])(
  'a record in a cacheDir %s has a name that stays when all is moved',
  (_where, cacheDir, root, output, name) => {
    const nameAt = (place: string) =>
      basename(
        manifestFile({ cacheDir: place + cacheDir, root: place + root, outDir: join(place + root, output) }),
      );
    expect(nameAt('')).toMatch(name);
    expect(nameAt('/moved')).toBe(nameAt(''));
  },
);
