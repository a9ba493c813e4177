import { describe, expect, onTestFinished, test } from 'vitest';
import { sharedService } from '../../support/site/built-site.ts';
import { astroVersion } from '../../support/site/installation.ts';
import { startServer } from '../../support/site/server.ts';
import { sharedLayoutFiles } from '../../support/site/shared-layout.ts';
import { type Site, temporarySite } from '../../support/site/site.ts';

const service = await sharedService({ 1: '<s>one</s>' });

async function serve(site: Site, command: 'dev' | 'preview') {
  const server = await startServer(site, command, service.environment);
  onTestFinished(() => server.stop());
  const page = async (path: string) => {
    const response = await fetch(server.url + path);
    return { status: response.status, html: await response.text() };
  };
  return { server, page };
}

describe.each(['static', 'server'] as const)('with the output %s, a layout with guarded embeds', (output) => {
  test.for(['dev', 'preview'] as const)(
    'shows its snippets on prerendered pages alone: astro %s',
    async (command) => {
      const site = await temporarySite(sharedLayoutFiles(output), service);
      if (command === 'preview') await site.builds();
      const { server, page } = await serve(site, command);

      const still = await page('/');
      expect(still.html.match(/<s>one<\/s>/g), server.output()).toHaveLength(5);
      const live = await page('/live');
      expect(live.status, server.output()).toBe(200);
      expect(live.html).toMatch(/<u[^>]*>live<\/u>/);
      expect(live.html).not.toMatch(/<s>|snippet-embed/);

      const [url = ''] = /\/_server-islands\/Late\?[^"']*/.exec(still.html) ?? [];
      const island = await page(url.replaceAll('&amp;', '&'));
      expect(island.html).toMatch(/<em[^>]*>late/);
      expect(island.html).not.toMatch(/<s>|snippet-embed/);
      expect(server.output()).not.toMatch(/on-demand-page|ERROR/);
    },
  );
});

test('<Snippet> in an entry, of which a build only warns, is refused on a page on demand, and the log says what to do', async () => {
  const show = (prerender: boolean) => `---
import { getEntry, render } from 'astro:content';
export const prerender = ${prerender};
const { Content } = await render(await getEntry('posts', 'a'));
---
<Content />`;
  const site = await temporarySite(
    {
      ...sharedLayoutFiles('static'),
      'src/content.config.ts': `
import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
export const collections = { posts: defineCollection({ loader: glob({ pattern: '*', base: './src/posts' }) }) };`,
      'src/posts/a.mdx': `import { Snippet } from 'astro-snippets/components';\n\n<Snippet id={1} />`,
      'src/pages/post.astro': show(true),
      'src/pages/post-live.astro': show(false),
    },
    service,
  );
  expect(await site.builds()).toMatch(/WARN.*src\/posts\/a\.mdx.* Rendered on demand: .*\/post-live/);
  const { server, page } = await serve(site, 'preview');
  expect((await page('/post')).html).toContain('<s>one</s>');
  // Astro may have sent a part of the page by then, and cuts the answer.
  const answer = await page('/post-live').catch(() => ({ status: 500 }));
  expect(answer.status).toBe(500);
  // Astro 5 and 6 do not log why a page has failed.
  if (astroVersion < 7) return;
  // The server may log it after the answer.
  await expect.poll(() => server.output()).toContain('the route /post-live is rendered on demand');
  await expect.poll(() => server.output()).toContain('liveSnippetLoader');
});
