import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cell } from './cells.ts';
import { approachesFor, generateSite } from './generate-site.ts';
import { measure, type Usage } from './measure.ts';
import { prepare, type VariantName, variants } from './variants.ts';

const root = join(import.meta.dirname, '../..');
const astro = join(root, 'node_modules/astro/bin/astro.mjs');
const command = join(root, 'dist/cli/main.js');
// In memory if possible: a disk that is still busy with earlier writes would distort the result.
const sites = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export interface Measured {
  cell: Cell;
  runs: Partial<Record<VariantName, Usage[]>>;
}

/** Links all packages and this one into a folder, as if they were installed there. */
async function install(folder: string): Promise<void> {
  await mkdir(folder);
  const packages = join(root, 'node_modules');
  for (const name of await readdir(packages)) {
    if (!name.startsWith('.')) await symlink(join(packages, name), join(folder, name), 'junction');
  }
  await symlink(root, join(folder, 'astro-snippets'), 'junction');
}

interface ServiceProcess {
  environment: Record<string, string>;
  tell(told: { latency?: number; edition?: number }): Promise<void>;
  end(): void;
}

async function startService(folder: string): Promise<ServiceProcess> {
  const child = fork(join(import.meta.dirname, 'service-process.ts'), { stdio: 'inherit' });
  const heard = <T>() => new Promise<T>((resolve) => child.once('message', resolve as never));
  const { origin, ca } = await heard<{ origin: string; ca: string }>();
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, ca);
  return {
    environment: {
      SNIPPETS_API_KEY: 'sk_of_the_benchmark',
      SNIPPETS_RENDER_BASE_URL: origin,
      NODE_EXTRA_CA_CERTS: authority,
    },
    async tell(told) {
      const done = heard();
      child.send(told);
      await done;
    },
    end: () => child.disconnect(),
  };
}

/** Runs every variant of every cell in turns, so that a slow phase of the machine affects all of them. */
export async function runCells(cells: readonly Cell[], say: (line: string) => void): Promise<Measured[]> {
  const folder = await mkdtemp(join(sites, 'snippets-bench-'));
  await install(join(folder, 'node_modules'));
  const service = await startService(folder);
  try {
    const measured: Measured[] = [];
    for (const cell of cells) measured.push(await runCell(cell, folder, service, say));
    return measured;
  } finally {
    service.end();
    await rm(folder, { recursive: true, force: true });
  }
}

async function runCell(
  cell: Cell,
  folder: string,
  service: ServiceProcess,
  say: (line: string) => void,
): Promise<Measured> {
  const approaches = approachesFor(cell);
  const names = new Set(cell.variants.map((name) => variants[name].approach));
  const siteOf = (approach: string) => join(folder, `${approach}-${cell.pages}`);
  for (const name of names) {
    const approach = approaches[name];
    if (approach !== undefined) await generateSite(siteOf(name), cell, approach);
  }
  let edition = 0;
  await service.tell({ latency: cell.latency });
  const measured: Measured = { cell, runs: {} };
  for (let turn = 0; turn < cell.runs; turn++) {
    for (const name of cell.variants) {
      const variant = variants[name];
      const site = siteOf(variant.approach);
      await prepare(site, variant);
      if (variant.command === 'refresh') await service.tell({ edition: ++edition });
      const [script, arguments_] = variant.command === 'build' ? [astro, ['build']] : [command, ['refresh']];
      const environment = { ...service.environment, BENCH_CACHE: join(site, '.cache') };
      const usage = await measure(site, script, arguments_, environment);
      measured.runs[name] = [...(measured.runs[name] ?? []), usage];
      say(`${cell.name}, ${variant.name}: ${usage.wall.toFixed(2)} s, ${usage.memory.toFixed(0)} MB`);
    }
  }
  return measured;
}
