import type { WrittenSourceMap } from './locations.ts';

interface TransformContext {
  getCombinedSourcemap(): WrittenSourceMap;
}

/**
 * A Vite plugin that passes its file and line to each `<Snippet>`, for error messages. The stack does not contain them:
 * Astro renders a component after the page's own code has returned.
 */
export function locationPlugin() {
  let root = '';
  return {
    name: 'astro-snippets:location',
    configResolved(config: { root: string }) {
      root = config.root;
    },
    transform: {
      filter: { id: /\.(?:astro|mdx)$/, code: 'astro-snippets/components' },
      async handler(this: TransformContext, code: string, id: string) {
        const { passLocations } = await import('./locations.ts');
        const located = await passLocations(code, { id, root, map: () => this.getCombinedSourcemap() });
        // No line moves, so the source map stays valid.
        return located === undefined ? undefined : { code: located, map: null };
      },
    },
  };
}
