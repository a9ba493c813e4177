import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startTestService } from '../../support/service.ts';
import { createSite } from '../../support/site.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

test('the packed package works from node_modules and contains only the published files', async () => {
  const service = await startTestService({ 1: '<b>one</b>' });
  const site = await createSite({
    'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet id={1} /></p>`,
  });
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', site.directory],
    // npm is a shell script on Windows.
    { cwd: root, shell: process.platform === 'win32' },
  );
  const packed: unknown = JSON.parse(stdout);
  const [{ filename, files }] = Object.values(packed as object) as [
    { filename: string; files: { path: string }[] },
  ];
  const names = files.map(({ path }) => path);
  expect(names).toEqual(
    expect.arrayContaining([
      'package.json',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'llms.txt',
      'docs/README.md',
    ]),
  );
  expect(
    names.filter(
      (name) =>
        !/^(dist\/.+\.(js|d\.ts|astro|eta|css)|[A-Z]+(\.md)?|docs\/[\w-]+\.md|llms\.txt|docs\/performance\/[a-z-]+\.svg|package\.json)$/.test(
          name,
        ),
    ),
  ).toEqual([]);

  await mkdir(join(site.directory, 'node_modules/astro-snippets'), { recursive: true });
  // Relative names: GNU tar takes what precedes a colon for the name of a host.
  const target = 'node_modules/astro-snippets';
  await run('tar', ['-xzf', filename, '-C', target, '--strip-components=1'], { cwd: site.directory });
  const { exitCode } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
  await site.remove();
  await service.close();
});
