import { expect, test, vi } from 'vitest';
import { sharedSite } from '../../support/site/built-site.ts';
import { fetchPage, startServer } from '../../support/site/server.ts';
import { pageWith } from '../../support/site/site.ts';

const { service, site } = await sharedSite(
  {},
  {
    'src/pages/index.astro': pageWith(
      '<html><head><title>Home</title></head><body><p><Snippet id={420} /></p></body></html>',
    ),
  },
);
service.put(420, 'Free shipping', 'Free-shipping line');

const retrieved = () => service.requests().filter(({ variant }) => variant === 'retrieve');

test('in dev, the name of a rendered snippet is asked for once, and shown in the toolbar and in the log', async () => {
  const dev = await startServer(site, 'dev', service.environment);
  try {
    await vi.waitFor(
      async () => {
        const { html } = await fetchPage(dev.url);
        expect(html).toContain('<!--snippet 420-->Free shipping');
        expect(html).toContain('"name":"Free-shipping line"');
      },
      { timeout: 20_000, interval: 500 },
    );
    service.put(420, 'Free <b>shipping', 'Free-shipping line');
    await vi.waitFor(
      async () => {
        await fetchPage(dev.url);
        expect(dev.output()).toContain('Snippet 420 (Free-shipping line) leaves <b> open');
        expect(dev.output()).toContain('[left-open]');
      },
      { timeout: 20_000, interval: 500 },
    );
    expect(retrieved()).toHaveLength(1);
  } finally {
    await dev.stop();
  }
});
