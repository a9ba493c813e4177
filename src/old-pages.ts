import type { AstroConfig } from 'astro';

/**
 * Whether Astro keeps a page of the last build in the output as it is: then its snippets are inlined already,
 * and there is no embed left to put today's content into.
 */
export function keepsOldPages({ experimental, vite }: Pick<AstroConfig, 'experimental' | 'vite'>): boolean {
  return experimental.incrementalBuild === true && vite.build?.emptyOutDir === false;
}

export const oldPagesWarning =
  'With experimental.incrementalBuild and vite.build.emptyOutDir: false, a page that Astro keeps from the last build shows the snippets of the last build. Leave emptyOutDir on: pages are then restored from the cache, with their embeds.';
