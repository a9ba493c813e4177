import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger } from 'astro';
import type { Plugin } from 'vite';
import { separatesPrerendered } from '../settings/versions.ts';

/** The module of the component bridge, of the sources or as built. */
const bridgeModule = fileURLToPath(
  new URL(`../embed/component-bridge${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
).replaceAll('\\', '/');

/**
 * In Astro's code, the place where an island's props and slots are rendered, and not yet encrypted. Astro 5.0 has it in a
 * function, later versions in a class.
 */
const beforeEncryption = /const key = await (this\.)?result\.key;/;

/** The code that tells the integration what a page passes to a server island. @param self `this.` in a class */
const announcement = (self: string) => `__astroSnippetsBridge(import.meta.url).announceIsland?.({
  page: ${self}result.pathname, name: ${self ? 'this.displayName' : '_displayName'}, passed: [${self}props, renderedSlots],
});`;

/**
 * Makes pages announce what they pass to server islands: Astro encrypts it, so that the output does not show an embed
 * in it. Only the text that is passed is certain, as it may come from anywhere.
 */
export function islandPlugin(logger: AstroIntegrationLogger): Plugin {
  return {
    name: 'astro-snippets:islands',
    apply: 'build',
    transform: {
      filter: { id: /\/astro\/dist\/runtime\/server\/render\/server-islands\.js$/ },
      handler(code) {
        const { name } = this.environment;
        const rendering = separatesPrerendered(this.environment.getTopLevelConfig()) ? 'prerender' : 'ssr';
        if (name !== rendering) return undefined;
        const [found, self = ''] = beforeEncryption.exec(code) ?? [];
        if (found === undefined || !code.includes('renderedSlots')) {
          logger.warn(
            'Embeds that a page passes to a server island are not noticed with this version of Astro.',
          );
          return undefined;
        }
        const announced = code.replace(found, `${announcement(self)}\n${found}`);
        const imported = `import { findBridge as __astroSnippetsBridge } from ${JSON.stringify(bridgeModule)};`;
        return { code: `${imported}\n${announced}`, map: null };
      },
    },
  };
}
