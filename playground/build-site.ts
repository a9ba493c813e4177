import { spawnSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { astro, builtFor, site } from './run-astro.ts';

// Builds the playground's site beside the served site, and replaces the served site if the build succeeds.
const [, , served = ''] = process.argv;
const built = builtFor(served);
const { status } = spawnSync(process.execPath, [astro, 'build', '--outDir', built], {
  cwd: site,
  stdio: 'inherit',
});
if (status === 0) {
  rmSync(served, { recursive: true, force: true });
  renameSync(built, served);
}
process.exitCode = status ?? 1;
