import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { sharedService } from '../../support/site/built-site.ts';
import { createFolder, type Folder } from '../../support/site/folder.ts';
import { startServer } from '../../support/site/server.ts';
import { configWith, pageWith } from '../../support/site/site.ts';
import { startProgram } from '../../support/tools/command.ts';
import { cleanEnvironment, networkSettings } from '../../support/tools/environment.ts';
import { packPackage } from '../../support/tools/registry.ts';

const execute = promisify(execFile);
const service = await sharedService({ 1: '<b>one</b>' });
const astro = { astro: manifest.devDependencies.astro };

const astroEnvironment = { ASTRO_TELEMETRY_DISABLED: '1', CI: 'true', NO_COLOR: '1' };

/** A site of the workspace, which shows snippet 1. */
const siteFiles = (name: string, dependencies: Record<string, string>) => ({
  [`sites/${name}/package.json`]: JSON.stringify({ name, private: true, type: 'module', dependencies }),
  [`sites/${name}/astro.config.mjs`]: configWith(),
  [`sites/${name}/src/pages/index.astro`]: pageWith('<p><Snippet id={1} /></p>'),
});

/** Installs a workspace in which only the package.json of the root names the package. */
async function installWorkspace(install: readonly string[], files: Record<string, string>): Promise<Folder> {
  const folder = await createFolder({
    ...siteFiles('shop', astro),
    ...siteFiles('docs', {}),
    ...files,
  });
  afterAll(() => folder.remove());
  const packed = await packPackage(folder.directory);
  const dependencies = { ...astro, 'astro-snippets': `file:${packed}` };
  await folder.write({
    'package.json': JSON.stringify({
      name: 'company',
      private: true,
      workspaces: ['sites/*'],
      dependencies,
    }),
  });
  const [command = '', ...flags] = install;
  await execute(command, flags, {
    cwd: folder.directory,
    env: { ...cleanEnvironment(), ...networkSettings(), CI: 'true' },
    shell: process.platform === 'win32',
  });
  return folder;
}

describe.each<[string, string[], Record<string, string>]>([
  ['npm', ['npm', 'install', '--no-audit', '--no-fund'], {}],
  [
    'pnpm',
    ['npx', '--yes', 'pnpm@12', 'install', '--store-dir', '.store'],
    { 'pnpm-workspace.yaml': "packages:\n  - 'sites/*'\nallowBuilds:\n  esbuild: true\n" },
  ],
])('in a workspace of %s, where only the root depends on the package,', async (_name, install, files) => {
  const folder = await installWorkspace(install, files);
  // The site `docs` has no dependency of its own: it uses the root's Astro.
  const siteOf = (name: string) => ({
    start: (arguments_: string[], environment: Record<string, string> = {}) =>
      startProgram(
        join(folder.directory, 'node_modules/astro/bin/astro.mjs'),
        join(folder.directory, 'sites', name),
        arguments_,
        { ...cleanEnvironment(), ...astroEnvironment, ...environment },
      ),
  });

  test.for(['shop', 'docs'])('the site %s builds', async (name) => {
    const { exitCode, output } = await siteOf(name).start(['build'], service.environment).ended;
    expect(exitCode, output).toBe(0);
    expect(await folder.read(`sites/${name}/dist/index.html`)).toContain('<p><b>one</b></p>');
  });

  test.for(['shop', 'docs'])('astro dev shows the snippet of the site %s', async (name) => {
    const dev = await startServer(siteOf(name), 'dev', service.environment);
    onTestFinished(() => dev.stop());
    const response = await fetch(dev.url);
    expect(await response.text(), dev.output()).toContain('<b>one</b>');
  });
});
