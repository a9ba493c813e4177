import { byAstro } from './installation.ts';

const renderer = byAstro({ 5: '@astrojs/mdx', 6: '@astrojs/mdx', 7: '@astrojs/mdx/container-renderer' });

/**
 * Files that render an MDX post with snippet 4 with Astro's Container API: `renderPost()`, and `feed()` with
 * its full text.
 */
export const mdxFeed = {
  'src/content.config.ts': `
    import { defineCollection } from 'astro:content';
    import { glob } from 'astro/loaders';
    export const collections = { posts: defineCollection({ loader: glob({ pattern: '*.mdx', base: 'src/posts' }) }) };`,
  'src/posts/first.mdx': `import { Snippet } from 'astro-snippets/components';\n\nNow <Snippet id={4}>children</Snippet> only.\n`,
  'src/feed.js': `
    import { experimental_AstroContainer as AstroContainer } from 'astro/container';
    import { loadRenderers } from 'astro:container';
    import { getEntry, render } from 'astro:content';
    import { getContainerRenderer } from '${renderer}';
    import rss from '@astrojs/rss';
    export async function renderPost() {
      const container = await AstroContainer.create({ renderers: await loadRenderers([getContainerRenderer()]) });
      const { Content } = await render(await getEntry('posts', 'first'));
      return container.renderToString(Content);
    }
    export async function feed(change = (html) => html) {
      const items = [{ title: 'First', link: '/first', content: change(await renderPost()) }];
      return rss({ title: 'Posts', description: 'All', site: 'https://example.com', items });
    }`,
};
