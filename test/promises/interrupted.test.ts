import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setAside } from '../../src/build/set-aside.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;

// Pages that take long to scan and to inline, and no time to render: Astro copies them as they are.
const count = 60;
const page = `<html><body>${`<p><snippet-embed id="1"></snippet-embed></p>${'<i>filler</i>'.repeat(400)}`.repeat(80)}</body></html>\n`;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>' });
  site = await createSite({
    'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const clock = { name: 'clock', hooks: { 'astro:build:generated': () => console.log('GENERATED') } };
export default defineConfig({ integrations: [clock, snippets()] });`,
    'src/pages/plain.astro': '<html><body>Plain</body></html>\n',
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`public/${index}.html`, page])),
  });
});
beforeEach(() => service.mend());
afterAll(async () => {
  await site.remove();
  await service.close();
});

const codes = { SIGINT: 130, SIGTERM: 143, SIGKILL: null } as const;
type Signal = keyof typeof codes;

/** Ends a build some time after its pages were generated, and says how. Nothing, where the build was sooner. */
async function interrupt(signal: Signal, milliseconds: number) {
  const build = site.start(['build'], service.environment);
  await expect.poll(build.output, { timeout: 20_000, interval: 10 }).toContain('GENERATED');
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const before = performance.now();
  build.process.kill(signal);
  const { exitCode, output } = await build.ended;
  return { exitCode, output, took: performance.now() - before };
}

async function expectWholePages() {
  for (const name of await site.list()) {
    if (!name.endsWith('.html')) continue;
    const text = await site.read(name);
    expect(text.includes('<snippet-embed'), `${name} holds an embed`).toBe(false);
    expect(text.trimEnd().endsWith('</html>'), `${name} is whole`).toBe(true);
  }
}

async function expectCleanBuild() {
  service.mend();
  expect((await site.build(service.environment)).exitCode).toBe(0);
  const names = await site.list();
  expect(names.filter((name) => name.endsWith('.html'))).toHaveLength(count + 1);
  await expectWholePages();
  expect(await site.list('node_modules/.astro/astro-snippets')).not.toContainEqual(
    expect.stringMatching(/^output/),
  );
}

describe.each(Object.keys(codes) as Signal[])('%s', (signal) => {
  test('while snippets are fetched: no page holds an embed, and the build ends within two seconds', async () => {
    service.faults.latency = 3_600_000;
    const { exitCode, took } = await interrupt(signal, 1_500);
    expect(exitCode).toBe(codes[signal]);
    expect(took).toBeLessThan(2_000);
    await expectWholePages();
    const names = await site.list();
    // Pages without embeds are as good as ever; but killed, nobody was there to put them back.
    expect(names.includes('plain/index.html')).toBe(signal !== 'SIGKILL');
    await expectCleanBuild();
  });

  test('at random moments while pages are scanned and inlined: every page that is there is whole', async () => {
    let interrupted = 0;
    for (let turn = 0; turn < 4; turn++) {
      const { exitCode, took } = await interrupt(signal, Math.random() * 700);
      expect([codes[signal], 0]).toContain(exitCode);
      if (exitCode !== 0) interrupted += 1;
      expect(took).toBeLessThan(2_000);
      await expectWholePages();
    }
    expect(interrupted).toBeGreaterThan(0);
    await expectCleanBuild();
  });
});

describe('a folder that is set aside', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'snippets-aside-'));
    await mkdir(join(root, 'dist'));
    await writeFile(join(root, 'dist/a'), 'a');
    return () => rm(root, { recursive: true });
  });
  const read = (name: string) => readFile(join(root, name), 'utf8').catch(() => undefined);

  const dist = () => join(root, 'dist');
  const cache = () => join(root, 'cache');

  test('is nowhere to be seen meanwhile, and back afterwards', async () => {
    await setAside(dist(), cache(), async (aside) => {
      expect(await read('dist/a')).toBeUndefined();
      await writeFile(join(aside, 'a'), 'b');
    });
    expect(await read('dist/a')).toBe('b');
    expect(await readdir(cache())).toEqual([]);
  });

  test('is back too when the work fails', async () => {
    await expect(setAside(dist(), cache(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await read('dist/a')).toBe('a');
  });

  test('is worked on where it is, when it cannot be moved', async () => {
    // Another disk: a rename to there is refused.
    await symlink(await mkdtemp('/dev/shm/snippets-'), cache());
    expect(await setAside(dist(), cache(), async (folder) => folder)).toBe(dist());
    await rm(await realpath(cache()), { recursive: true });
  });

  test('what a killed process left is removed, what a running one has is not', async () => {
    const running = `output-${process.ppid}-${Date.now()}`;
    const left = [`output-${2 ** 22 + 1}-${Date.now()}`, `output-${process.ppid}-1`];
    for (const name of [running, ...left]) await mkdir(join(cache(), name), { recursive: true });
    await setAside(dist(), cache(), async () => {});
    expect(await readdir(cache())).toEqual([running]);
  });
});
