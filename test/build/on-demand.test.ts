import { expect, test } from 'vitest';
import { type SiteServer, startServer } from '../support/server.ts';
import { createSite } from '../support/site.ts';

const files = {
  'astro.config.mjs': `
    import node from '@astrojs/node';
    import { defineConfig } from 'astro/config';
    import snippets from 'astro-snippets';
    export default defineConfig({ adapter: node({ mode: 'standalone' }), integrations: [snippets()] });`,
  'src/pages/live.astro': `---
import { Snippet } from 'astro-snippets/components';
export const prerender = false;
---
<p><Snippet id={1} /></p>`,
  'src/pages/still.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet id={1}>children</Snippet></p>`,
  'src/pages/wrong.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet id={1} params={{ at: new Date(0) } as never} /></p>`,
};

test('astro dev: <Snippet> is an error with a hint on a page rendered on demand, and works on a prerendered page', async () => {
  const site = await createSite(files);
  let dev: SiteServer | undefined;
  try {
    dev = await startServer(site, 'dev');
    await fetch(`${dev.url}/live`);
    await expect
      .poll(dev.output)
      .toContain('is on /live (route /live, src/pages/live.astro:5), which is rendered on demand');
    await expect.poll(dev.output).toContain('export const prerender = true');
    const still = await fetch(`${dev.url}/still`);
    // It gets as far as asking for the key, which is not set.
    expect(await still.text()).toContain('SNIPPETS_API_KEY is not set.');
    await fetch(`${dev.url}/wrong`);
    await expect
      .poll(dev.output)
      .toContain('<Snippet> of snippet 1 on /wrong (src/pages/wrong.astro:4): params.at is a Date');
  } finally {
    await dev?.stop();
    await site.remove();
  }
});
