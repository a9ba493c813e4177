import { fork } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approachesFor, generateSite, pageOf } from './generate-site.ts';
import { measure } from './measure.ts';
import { type Measured, sizeOf } from './result.ts';
import type { BenchSite } from './sites.ts';
import { prepare, type Variant, type VariantName, variants } from './variants.ts';

const root = join(import.meta.dirname, '../..');
const scripts = {
  build: join(root, 'node_modules/astro/bin/astro.mjs'),
  refresh: join(root, 'dist/cli/main.js'),
  pass: join(import.meta.dirname, 'pass-process.ts'),
};

const memoryFolder = '/dev/shm';

/**
 * The folder where sites are built: in memory if possible, as a disk that is busy with earlier writes would
 * distort the result.
 */
export const sitesFolder: { path: string; isInMemory: boolean } = existsSync(memoryFolder)
  ? { path: memoryFolder, isInMemory: true }
  : { path: tmpdir(), isInMemory: false };

/** Links all packages and this one into a folder, as if they were installed there. */
async function install(folder: string): Promise<void> {
  await mkdir(folder);
  const packages = join(root, 'node_modules');
  for (const name of await readdir(packages)) {
    if (!name.startsWith('.')) await symlink(join(packages, name), join(folder, name), 'junction');
  }
  await symlink(root, join(folder, 'astro-snippets'), 'junction');
}

/** The service in its own process. */
interface ServiceProcess {
  /** The variables for a site that uses the service. */
  environment: Record<string, string>;
  /** Changes the latency, in milliseconds, or the edition of all contents. */
  change(settings: { latency?: number; edition?: number }): Promise<void>;
  end(): void;
}

async function startService(folder: string): Promise<ServiceProcess> {
  const child = fork(join(import.meta.dirname, 'service-process.ts'), { stdio: 'inherit' });
  const nextMessage = <T>() => new Promise<T>((resolve) => child.once('message', resolve as never));
  const { origin, ca } = await nextMessage<{ origin: string; ca: string }>();
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, ca);
  return {
    environment: {
      SNIPPETS_API_KEY: 'sk_of_the_benchmark',
      SNIPPETS_RENDER_BASE_URL: origin,
      NODE_EXTRA_CA_CERTS: authority,
    },
    async change(settings) {
      const done = nextMessage();
      child.send(settings);
      await done;
    },
    end: () => child.disconnect(),
  };
}

/** Is told how a run goes on. */
interface RunEvents {
  say(line: string): void;
  /** Called after each round with everything measured so far. */
  onRound(measured: Measured[], rounds: number): Promise<void>;
}

/**
 * Builds every site in every variant, each once per round, so that a slow phase of the machine affects all of
 * them. Every other round is in reverse order.
 */
export async function runSites(
  sites: readonly BenchSite[],
  rounds: number,
  { say, onRound }: RunEvents,
): Promise<void> {
  const folder = await mkdtemp(join(sitesFolder.path, 'snippets-bench-'));
  await install(join(folder, 'node_modules'));
  const service = await startService(folder);
  try {
    const all = sites.map((site) => ({ site, runs: {} }) as Measured);
    for (const { site } of all) await generate(folder, site);
    for (let round = 0; round < rounds; round++) {
      for (const measured of all) {
        const { times = 1 } = measured.site;
        for (let time = 0; time < times; time++) {
          await runRound(measured, round + time, { folder, service, say });
        }
      }
      await onRound(all, round + 1);
    }
  } finally {
    service.end();
    await rm(folder, { recursive: true, force: true });
  }
}

const placeOf = (folder: string, site: BenchSite, { approach }: Variant) =>
  join(folder, `${site.name}-${approach}`);

async function generate(folder: string, site: BenchSite): Promise<void> {
  const approaches = approachesFor(site);
  for (const name of site.variants) {
    const variant = variants[name];
    const approach = approaches[variant.approach];
    if (approach !== undefined) await generateSite(placeOf(folder, site, variant), site, approach);
  }
}

async function runRound(
  { site, runs }: Measured,
  round: number,
  { folder, service, say }: { folder: string; service: ServiceProcess; say: (line: string) => void },
): Promise<void> {
  await service.change({ latency: site.latency });
  // The other builds need the manifest of the cold build before them.
  const names = round % 2 === 0 ? site.variants : [...site.variants].sort(reversed);
  for (const name of names) {
    const variant = variants[name];
    const place = placeOf(folder, site, variant);
    await prepare(place, variant);
    if (variant.command === 'refresh') await service.change({ edition: round + 1 });
    const environment = { ...service.environment, BENCH_CACHE: join(place, '.cache') };
    let arguments_: string[] = [variant.command];
    if (variant.command === 'pass') {
      writePages(join(place, 'dist'), site);
      arguments_ = [join(place, 'dist'), join(place, 'manifest.json'), `${site.contentSize}`];
    }
    const usage = await measure(place, scripts[variant.command], arguments_, environment);
    runs[name] = [...(runs[name] ?? []), usage];
    if (variant.command === 'pass') await rm(place, { recursive: true });
    say(
      `${sizeOf(site)}, ${variant.name}: ${usage.wall.toFixed(2)} s, ${usage.cpu.toFixed(2)} s of CPU, ${usage.memory.toFixed(0)} MB`,
    );
  }
}

/** Sorts the peers in reverse order, after the variants that depend on this order. */
function reversed(a: VariantName, b: VariantName): number {
  const ours: VariantName[] = ['cold', 'warm', 'refresh'];
  const rank = (name: VariantName) =>
    ours.includes(name) ? ours.indexOf(name) : 10 - Object.keys(variants).indexOf(name);
  return rank(a) - rank(b);
}

/** Writes the pages as Astro would generate them. */
function writePages(folder: string, site: BenchSite): void {
  for (let page = 0; page < site.pages; page++) {
    mkdirSync(join(folder, String(page)), { recursive: true });
    writeFileSync(join(folder, String(page), 'index.html'), pageOf(site, page));
  }
}
