import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { sharedSite } from '../../support/built-site.ts';

// Pages that take long to scan and to inline but not to render, since Astro copies them.
const count = 60;
const page = `<html><body>${`<p><snippet-embed id="1"></snippet-embed></p>${'<i>filler</i>'.repeat(400)}`.repeat(80)}</body></html>\n`;

const { service, site } = await sharedSite(
  { 1: '<b>one</b>' },
  {
    'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const clock = { name: 'clock', hooks: { 'astro:build:generated': () => console.log('GENERATED') } };
export default defineConfig({ integrations: [clock, snippets()] });`,
    'src/pages/plain.astro': '<html><body>Plain</body></html>\n',
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`public/${index}.html`, page])),
  },
);

/** Starts a build, and returns it as soon as its pages are generated. */
async function generated() {
  const build = site.start(['build'], service.environment);
  await expect.poll(build.output, { timeout: 60_000, interval: 10 }).toContain('GENERATED');
  return build;
}

const records = () => site.list('node_modules/.astro/astro-snippets');

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
  // The lock of the one before was taken over.
  expect(await records()).toContain('manifest.json');
  expect(await records()).not.toContain('manifest.lock');
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
    expect(await records()).not.toContain('manifest.json');
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
      expect(await records()).not.toContain('manifest.json');
    }
    expect(interrupted).toBeGreaterThan(0);
    await expectCompleteBuild();
  });
});
