import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site, temporarySite } from '../support/site.ts';

let service: TestService;
let site: Site;

// Pages that take long to scan and to inline but not to render, since Astro copies them.
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
beforeEach(() => service.clearFaults());
afterAll(async () => {
  await site.remove();
  await service.close();
});

/** Starts a build, and returns it as soon as its pages are generated. */
async function generated() {
  const build = site.start(['build'], service.environment);
  await expect.poll(build.output, { timeout: 60_000, interval: 10 }).toContain('GENERATED');
  return build;
}

const manifest = () => site.list('node_modules/.astro/astro-snippets');

async function expectCompleteBuild() {
  service.clearFaults();
  expect((await site.build(service.environment)).exitCode).toBe(0);
  const pages = (await site.list()).filter((name) => name.endsWith('.html'));
  expect(pages).toHaveLength(count + 1);
  for (const name of pages) {
    const text = await site.read(name);
    expect(text.includes('<snippet-embed'), `${name} contains an embed`).toBe(false);
    expect(text.trimEnd().endsWith('</html>'), `${name} is complete`).toBe(true);
  }
  expect(await manifest()).toContain('manifest.json');
}

// Windows has no signals: every process is ended as with SIGKILL.
const signals =
  process.platform === 'win32' ? (['SIGKILL'] as const) : (['SIGINT', 'SIGTERM', 'SIGKILL'] as const);

describe.each(signals)('a build that receives %s', (signal) => {
  test('while it fetches snippets ends at once, without a manifest, and the next build is complete', async () => {
    await expectCompleteBuild();
    const held = service.hold();
    const build = await generated();
    await held.asked();
    build.process.kill(signal);
    // Without an answer, it would go on for longer than a test may take.
    const { exitCode, signal: received } = await build.ended;
    expect(exitCode).not.toBe(0);
    expect(received ?? exitCode).toBeTruthy();
    expect(await manifest()).not.toContain('manifest.json');
    await expectCompleteBuild();
  });

  test('while it inlines pages leaves no manifest, unless it had finished', async () => {
    let interrupted = 0;
    for (let turn = 0; turn < 3; turn++) {
      const build = await generated();
      await setTimeout(Math.random() * 400);
      build.process.kill(signal);
      const { exitCode } = await build.ended;
      if (exitCode === 0) continue;
      interrupted += 1;
      expect(await manifest()).not.toContain('manifest.json');
    }
    expect(interrupted).toBeGreaterThan(0);
    await expectCompleteBuild();
  });
});

describe('a build that fails', () => {
  let failing: Site;
  beforeAll(async () => {
    failing = await createSite({
      'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const fail = () => { if (process.env.FAILING_DONE) throw new Error('This integration failed.'); };
const late = { name: 'late', hooks: { 'astro:build:done': fail } };
const adder = { name: 'adder', hooks: { 'astro:config:setup': ({ updateConfig }) => updateConfig({ integrations: [late] }) } };
export default defineConfig({ integrations: [snippets(), adder] });`,
      'src/pages/a.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
      'src/pages/b.astro': `---
if (import.meta.env.FAILING) throw new Error('This page cannot be rendered.');
---
<p>Plain</p>`,
    });
    const { exitCode, output } = await failing.build(service.environment);
    expect(exitCode, output).toBe(0);
  });
  afterAll(() => failing.remove());

  test('before it changes the output leaves the last build and its manifest', async () => {
    const before = await failing.list();
    const { exitCode, output } = await failing.build();
    expect(exitCode).toBe(1);
    expect(output).toContain('Needed for the snippets of the last build.');
    expect(await failing.list()).toEqual(before);
    expect(await failing.read('a/index.html')).toContain('<b>one</b>');
    expect(await failing.list('node_modules/.astro/astro-snippets')).toContain('manifest.json');
  });

  test('while pages render leaves no manifest', async () => {
    const { exitCode, output } = await failing.build({ ...service.environment, FAILING: '1' });
    expect(exitCode).toBe(1);
    expect(output).toContain('This page cannot be rendered.');
    expect(await failing.list('node_modules/.astro/astro-snippets')).not.toContain('manifest.json');
  });

  test('in the astro:build:done of another integration leaves no manifest, so that a check asks for a build', async () => {
    expect((await failing.build(service.environment)).exitCode).toBe(0);
    const { exitCode, output } = await failing.build({ ...service.environment, FAILING_DONE: '1' });
    expect(exitCode).toBe(1);
    expect(output).toContain('This integration failed.');
    expect(await failing.list('node_modules/.astro/astro-snippets')).not.toContain('manifest.json');
    const check = await startCommand(failing.directory, ['check'], service.environment).ended;
    expect(check.exitCode, check.output).toBe(3);
  });
});

test('a build writes through an output folder that is a symbolic link, and keeps the link', async () => {
  const target = join(site.directory, 'published');
  await rm(join(site.directory, 'dist'), { recursive: true, force: true });
  await mkdir(target);
  await symlink(target, join(site.directory, 'dist'), 'junction');
  await expectCompleteBuild();
  expect((await site.list('published')).filter((name) => name.endsWith('.html'))).toHaveLength(count + 1);
  await rm(join(site.directory, 'dist'));
});

test('a build works with a cacheDir inside the output folder', async () => {
  const nested = await temporarySite({
    'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ cacheDir: './dist/.cache', integrations: [snippets()] });`,
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
  });
  for (const content of ['<b>one</b>', '<b>two</b>']) {
    service.put(1, content);
    expect((await nested.build(service.environment)).exitCode).toBe(0);
    expect(await nested.read('index.html')).toContain(content);
    expect(await nested.list('dist/.cache/astro-snippets')).toContain('manifest.json');
  }
});
