import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { leftOutLines } from './left-out.ts';

const folder = import.meta.dirname;

/** Installs Astro and the packed package as a user would: from the registry, without flags that ignore conflicts. */
export default function install(project: TestProject): void {
  const version = String(project.config.env['TEST_ASTRO']);
  for (const line of leftOutLines(version)) process.stdout.write(`${line}\n`);
  const installation = join(folder, version);
  npm(join(folder, '../..'), 'pack', '--ignore-scripts', '--pack-destination', folder);
  const packed = readdirSync(folder).find((name) => /^astro-snippets-\d.*\.tgz$/.test(name));
  renameSync(join(folder, String(packed)), join(folder, 'astro-snippets.tgz'));
  // Otherwise npm keeps the package of the last run.
  rmSync(join(installation, 'node_modules/astro-snippets'), { recursive: true, force: true });
  rmSync(join(installation, 'node_modules/.package-lock.json'), { force: true });
  npm(installation, 'install', '--no-package-lock', '--no-audit', '--no-fund');
}

function npm(cwd: string, ...arguments_: string[]): void {
  execFileSync('npm', arguments_, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
}
