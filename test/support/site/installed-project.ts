import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import manifest from '../../../package.json' with { type: 'json' };
import { cleanEnvironment, networkSettings } from '../tools/environment.ts';
import { packPackage } from '../tools/registry.ts';

const repository = join(import.meta.dirname, '../../..');
const cache = join(tmpdir(), 'astro-snippets-installs');
const complete = '.is-complete';

/** A package manager, with the command that installs what package.json says. */
const installs = {
  npm: ['npm', 'install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--no-package-lock'],
  pnpm: ['npx', '--yes', 'pnpm@12', 'install', '--no-frozen-lockfile'],
} as const;

/** Packages of which a script has to run after they are installed. */
const built = ['bun', 'deno', 'esbuild', 'sharp', 'workerd'];

/**
 * Installs Astro, this package as it is published, and other packages into a folder outside of this repository. The
 * folder is kept for later runs, and gets the code as it is now. Fails with what the package manager says.
 */
export async function installedProject(
  manager: keyof typeof installs,
  packages: Record<string, string>,
): Promise<string> {
  const { dependencies, devDependencies, exports, imports } = manifest;
  const content = {
    manager,
    packages,
    dependencies,
    exports,
    imports,
    astro: devDependencies.astro,
    repository,
  };
  const folder = join(cache, createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16));
  if (!existsSync(join(folder, complete))) await install(folder, manager, packages);

  const own = await realpath(join(folder, 'node_modules/astro-snippets'));
  // pnpm links files with its store, so none is overwritten.
  await rm(join(own, 'dist'), { recursive: true });
  await cp(join(repository, 'dist'), join(own, 'dist'), { recursive: true });
  return folder;
}

async function install(folder: string, manager: keyof typeof installs, packages: Record<string, string>) {
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(join(cache, 'unfinished-'));
  const packed = await packPackage(unfinished);
  const project = {
    name: 'site',
    private: true,
    type: 'module',
    dependencies: { astro: manifest.devDependencies.astro, 'astro-snippets': `file:${packed}`, ...packages },
    allowScripts: Object.fromEntries(built.map((name) => [name, true])),
  };
  await writeFile(join(unfinished, 'package.json'), JSON.stringify(project));
  const allowed = built.map((name) => `  ${name}: true\n`).join('');
  await writeFile(join(unfinished, 'pnpm-workspace.yaml'), `allowBuilds:\n${allowed}`);

  const [command, ...flags] = installs[manager];
  await promisify(execFile)(command, flags, {
    cwd: unfinished,
    env: { ...cleanEnvironment(), ...networkSettings(), CI: 'true' },
    shell: process.platform === 'win32',
    maxBuffer: 2 ** 26,
  }).catch(({ stdout, stderr, message }) => {
    throw new Error(
      `These could not be installed: ${Object.keys(packages)}\n${message}\n${stdout}\n${stderr}`,
    );
  });
  await writeFile(join(unfinished, complete), '');
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
}
