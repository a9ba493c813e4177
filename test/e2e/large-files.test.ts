import { randomBytes } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measure } from '../bench/measure.ts';
import { sharedService } from '../support/site/built-site.ts';
import { snippetsCommand } from '../support/site/installation.ts';
import { temporarySite } from '../support/site/site.ts';

const MB = 1e6;
const astro = join(import.meta.dirname, '../../node_modules/astro/bin/astro.mjs');

const service = await sharedService({ 1: '<b>one</b>' });

/** Writes a file of any size without holding it in memory. */
async function writeLarge(file: string, size: number, piece: () => Buffer) {
  await mkdir(join(file, '..'), { recursive: true });
  const handle = await open(file, 'w');
  for (let written = 0; written < size; written += 10 * MB) await handle.write(piece());
  await handle.close();
}

const page = { 'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' };
const zeros = Buffer.alloc(10 * MB);
const binary = () => zeros;
const words = Buffer.from('{"word":"value"}\n'.repeat(600_000));
const text = () => words;
/** Lines that could each be the digest of a page. */
const digests = () =>
  Buffer.from(
    randomBytes(5 * MB)
      .toString('hex')
      .replace(/.{64}/g, '$&\n'),
  );

/**
 * Expects that a run takes at most 50 MB more than before. The best of four runs counts: the compiler and the garbage
 * collector take memory at random, but a file that is held in memory is held in each run.
 */
async function expectLittleMore(before: number, run: () => Promise<number>): Promise<void> {
  let more = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 4 && more >= 50; turn += 1) more = Math.min(more, (await run()) - before);
  expect(more).toBeLessThan(50);
}

test('a binary file of 2.3 GB, a text and a script of 700 MB in public take less than 50 MB of memory, and the key in one is found', async () => {
  const site = await temporarySite(page);
  const build = async () => {
    await rm(join(site.directory, 'dist'), { recursive: true, force: true });
    return (await measure(site.directory, astro, ['build'], service.environment)).memory;
  };
  const before = await build();
  const video = join(site.directory, 'public/video.bin');
  await writeLarge(video, 2_300 * MB, binary);
  for (const name of ['data.json', 'code.js']) {
    await writeLarge(join(site.directory, 'public', name), 700 * MB, text);
  }
  await expectLittleMore(before, build);
  expect(await site.read('index.html')).toContain('<b>one</b>');

  // Split between two chunks.
  const handle = await open(video, 'r+');
  await handle.write(service.environment.SNIPPETS_API_KEY, 1024 * 1024 * 2000 - 5);
  await handle.close();
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('The API key was found in video.bin');
});

test('a binary file of 2.3 GB, a text of 700 MB and one of 200 MB with different digests in the output take less than 50 MB of memory in a refresh', async () => {
  const site = await temporarySite(page);
  // With a small heap, V8 collects garbage early. A file kept in memory would not fit, or is outside the heap.
  const environment = {
    ...service.environment,
    NODE_OPTIONS: '--max-semi-space-size=1 --max-old-space-size=48',
  };
  let turn = 0;
  const refresh = async () => {
    turn += 1;
    service.put(1, `<b>${turn}</b>`);
    const { memory } = await measure(site.directory, snippetsCommand, ['refresh'], environment);
    expect(await site.read('index.html')).toContain(`<b>${turn}</b>`);
    return memory;
  };
  expect((await site.build(service.environment)).exitCode).toBe(0);
  const before = await refresh();
  await writeLarge(join(site.directory, 'dist/video.bin'), 2_300 * MB, binary);
  await writeLarge(join(site.directory, 'dist/data.json'), 700 * MB, text);
  await writeLarge(join(site.directory, 'dist/digests.txt'), 200 * MB, digests);
  await expectLittleMore(before, refresh);
});
