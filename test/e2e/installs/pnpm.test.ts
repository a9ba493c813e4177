import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { temporaryService } from '../../support/service/service.ts';
import { folderWith } from '../../support/site/folder.ts';
import { collectionOf, configWith } from '../../support/site/site.ts';
import { cleanEnvironment, networkSettings } from '../../support/tools/environment.ts';
import { packPackage } from '../../support/tools/registry.ts';

const execute = promisify(execFile);

test('the packed package installs with pnpm, and the site builds and lists its snippets', async () => {
  const service = await temporaryService({ 1: '<b>one</b>', 2: 'two' });
  const folder = await folderWith({
    // Astro needs this with or without this package.
    'pnpm-workspace.yaml': 'allowBuilds:\n  esbuild: true\n',
    'astro.config.mjs': configWith(),
    'src/content.config.ts': collectionOf('texts', '{ two: { id: 2 } }'),
    'src/pages/index.astro': `---
import { getEntry } from 'astro:content';
import { Snippet } from 'astro-snippets/components';
const { data } = await getEntry('texts', 'two');
---
<p><Snippet id={1} /> {data.text}</p>`,
  });
  const packed = await packPackage(folder.directory);
  await folder.write({
    'package.json': JSON.stringify({
      name: 'site',
      private: true,
      type: 'module',
      dependencies: { astro: manifest.devDependencies.astro, 'astro-snippets': `file:${packed}` },
    }),
  });
  const run = async (command: string, arguments_: string[], environment: Record<string, string>) => {
    const { stdout, stderr } = await execute(command, arguments_, {
      cwd: folder.directory,
      env: { ...cleanEnvironment(), ASTRO_TELEMETRY_DISABLED: '1', CI: 'true', ...environment },
      shell: process.platform === 'win32',
    });
    return stdout + stderr;
  };
  // Rejects if the command fails.
  const store = join(folder.directory, '.store');
  await run('npx', ['--yes', 'pnpm@12', 'install', '--store-dir', store], networkSettings());
  const bin = (name: string, argument: string) =>
    run(join(folder.directory, 'node_modules/.bin', name), [argument], service.environment);
  await bin('astro', 'build');
  expect(await folder.read('dist/index.html')).toContain('<p><b>one</b> two</p>');
  expect(await bin('astro-snippets', 'list')).toBe(
    'Snippet 1\n    index.html\nSnippet 2\n    texts (collection), entry "two"\n',
  );
});
