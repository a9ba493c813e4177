import { expect, test } from 'vitest';
import { sharedSite } from '../../support/site/built-site.ts';

const { service, site } = await sharedSite(
  { 1: '<b>one</b>' },
  {
    'src/pages/plain.astro': '<html><body>Plain</body></html>\n',
    'public/offer.html': '<p><snippet-embed id="1"></snippet-embed></p>\n',
  },
);

const records = () => site.list('node_modules/.astro/astro-snippets');

// Windows has no signals: every process is killed.
const signals =
  process.platform === 'win32' ? (['SIGKILL'] as const) : (['SIGINT', 'SIGTERM', 'SIGKILL'] as const);

test.for(signals)(
  'a build that receives %s while it fetches snippets ends at once, without a manifest, and the next build is complete',
  async (signal) => {
    const held = service.hold();
    const build = site.start(['build'], service.environment);
    await held.asked();
    build.process.kill(signal);
    // Without an answer, it would run into the test's timeout.
    const { exitCode, signal: received } = await build.ended;
    expect(exitCode).not.toBe(0);
    expect(received ?? exitCode).toBeTruthy();
    expect(await records()).not.toContain('manifest.json');
    held.release();
    expect((await site.build()).exitCode).toBe(0);
    expect(await site.read('offer.html')).toBe('<p><b>one</b></p>\n');
    // The lock of the interrupted build was taken over.
    expect(await records()).toContain('manifest.json');
    expect(await records()).not.toContain('manifest.lock');
  },
);
