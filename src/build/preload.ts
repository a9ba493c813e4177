import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Plugin } from 'vite';
import { elementName } from '../embed/element.ts';

/**
 * Loads what inlining takes as soon as Vite meets an embed in the site's code: while Astro writes pages it waits for the
 * disk most of the time, and afterwards everybody would wait for us. A site without embeds loads none of it.
 */
export function preloadPlugin(): Plugin {
  let begun = false;
  return {
    name: 'astro-snippets:preload',
    apply: 'build',
    transform: {
      filter: { code: elementName },
      handler() {
        if (!begun) void preload();
        begun = true;
      },
    },
  };
}

async function preload(): Promise<void> {
  await import('./begin-build.ts');
  await import('./inline-site.ts');
  await import('../html-rules/left-open.ts');
  const { loadUndici } = await import('../client/load-undici.ts');
  await nextTurn();
  loadUndici();
}
