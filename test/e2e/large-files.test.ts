import { randomBytes } from 'node:crypto';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measure } from '../bench/measure.ts';
import { snippetsCommand } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

const MB = 1e6;
const astro = join(import.meta.dirname, '../../node_modules/astro/bin/astro.mjs');
const plainConfig = `import { defineConfig } from 'astro/config';\nexport default defineConfig({});`;
let service: TestService;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>' });
});
afterAll(() => service.close());

/** Writes a file of any size without holding it in memory. */
async function writeLarge(file: string, size: number, piece: Buffer) {
  await mkdir(join(file, '..'), { recursive: true });
  const handle = await open(file, 'w');
  for (let written = 0; written < size; written += piece.length) await handle.write(piece);
  await handle.close();
}

/** Writes lines that may each be the digest of a page. */
async function writeDigests(file: string, size: number) {
  const handle = await open(file, 'w');
  for (let written = 0; written < size; written += 10 * MB) {
    await handle.write(
      `${randomBytes(5 * MB)
        .toString('hex')
        .replace(/.{64}/g, '$&\n')}\n`,
    );
  }
  await handle.close();
}

/** The highest memory of a build, in MB. */
async function memoryOf(site: Site): Promise<number> {
  await rm(join(site.directory, 'dist'), { recursive: true, force: true });
  return (await measure(site.directory, astro, ['build'], service.environment)).memory;
}

const binary = Buffer.alloc(10 * MB);
const text = Buffer.from('{"word":"value"}\n'.repeat(600_000));

test.for([
  ['a binary file of 2.3 GB', 'public/video.bin', 2_300 * MB, binary],
  ['a text of 700 MB', 'public/data.json', 700 * MB, text],
  ['a script of 700 MB', 'public/code.js', 700 * MB, text],
] as const)(
  '%s in public takes less than 50 MB of memory on top of what Astro takes',
  async ([, name, size, piece]) => {
    const page = { 'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' };
    const ours = await createSite(page);
    const plain = await createSite({ 'src/pages/index.html': '<p>typed in</p>' });
    await writeFile(join(plain.directory, 'astro.config.mjs'), plainConfig);
    const without = (await memoryOf(ours)) - (await memoryOf(plain));
    for (const site of [ours, plain]) await writeLarge(join(site.directory, name), size, piece);
    const withLarge = (await memoryOf(ours)) - (await memoryOf(plain));
    expect(withLarge - without).toBeLessThan(50);
    expect(await ours.read('index.html')).toContain('<b>one</b>');
    for (const site of [ours, plain]) await site.remove();
  },
);

test.for([
  ['a binary file of 2.3 GB and of unknown extension', 'dist/video.bin', 2_300 * MB, binary],
  ['a text of 2.3 GB', 'dist/data.json', 2_300 * MB, text],
  ['a text of 700 MB with different digests', 'dist/digests.txt', 700 * MB, undefined],
] as const)(
  '%s in the output takes less than 50 MB of memory on top of what a refresh takes',
  async ([, name, size, piece]) => {
    const site = await createSite({
      'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    });
    // With little room on the heap, V8 soon looks for garbage. What is kept of a file would not fit, or is not on the heap.
    const environment = {
      ...service.environment,
      NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=48',
    };
    const refresh = async (content: string) => {
      service.put(1, content);
      const { memory } = await measure(site.directory, snippetsCommand, ['refresh'], environment);
      expect(await site.read('index.html')).toContain(content);
      return memory;
    };
    expect((await site.build(service.environment)).exitCode).toBe(0);
    const without = await refresh('<b>two</b>');
    const file = join(site.directory, name);
    if (piece === undefined) await writeDigests(file, size);
    else await writeLarge(file, size, piece);
    // A run may take more than it holds: the compiler and the garbage collector take memory when they get to it. What is
    // held of a file is held in each run.
    let more = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 4 && more >= 50; run += 1) {
      more = Math.min(more, (await refresh(`<b>after ${run}</b>`)) - without);
    }
    expect(more).toBeLessThan(50);
    service.put(1, '<b>one</b>');
    await site.remove();
  },
);

test('the key at the end of a file of 2.3 GB, split between two pieces, fails the build', async () => {
  const site = await createSite({ 'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' });
  const file = join(site.directory, 'public/video.bin');
  await writeLarge(file, 2_300 * MB, binary);
  const handle = await open(file, 'r+');
  await handle.write(service.environment.SNIPPETS_API_KEY, 1024 * 1024 * 2000 - 5);
  await handle.close();
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('The API key was found in video.bin');
  await site.remove();
});
