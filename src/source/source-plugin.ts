import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger } from 'astro';
import type { Plugin } from 'vite';
import { hints } from '../failures/errors.ts';
import { separatesPrerendered } from '../settings/astro-version.ts';
import { fileOf } from './source-files.ts';
import type { SiteSource } from './source-search.ts';
import type { SyntaxNode, WrittenEmbeds } from './written-embeds.ts';

const ownFolder = fileOf(fileURLToPath(new URL('..', import.meta.url)));
// In `astro dev`, Vite has replaced what is imported with its URL.
const mention = new RegExp(
  `snippet-embed|astro-snippets/(?:dist/)?components|${ownFolder.replace(/[^\w/]/g, '\\$&')}components/`,
  'i',
);
const styles = /\.(?:css|scss|sass|less|styl|stylus|pcss|postcss)(?:$|\?)|[?&]type=style/;

/**
 * Rejects modules that write embeds where nothing replaces them: in the browser, and where pages are rendered on demand.
 * A build checks what is in the bundles, `astro dev` each module that is loaded. What `onMention` throws fails the build.
 */
export function sourcePlugin(
  source: SiteSource,
  logger: AstroIntegrationLogger,
  onMention: () => Promise<void>,
): Plugin {
  let isBuild = true;
  let isMixed = false;
  /** The modules that deal with embeds, by environment and id. */
  const modules = new Map<string, Map<string, WrittenEmbeds>>();
  const warned = new Set<string>();
  const warn = (id: string, message: string) => {
    const file = fileOf(id);
    if (!warned.has(file)) logger.warn(message);
    warned.add(file);
  };

  return {
    name: 'astro-snippets:source',
    enforce: 'post',
    configResolved(config) {
      isBuild = config.command === 'build';
      isMixed = isBuild && !separatesPrerendered(config);
    },
    transform: {
      order: 'post',
      filter: { code: mention },
      async handler(code, id) {
        const file = fileOf(id);
        // This package's own code says nothing about the site.
        if (file.startsWith(ownFolder)) return;
        await onMention();
        // Loaded only here and below: a site without embeds needs none of it.
        const { flawOf, isStore, placeIn } = await import('./source-flaws.ts');
        const { findWritten } = await import('./written-embeds.ts');
        const { name: environment } = this.environment;
        const found = modules.get(environment) ?? new Map<string, WrittenEmbeds>();
        modules.set(environment, found);
        // It is too long to be read.
        if (isStore(id)) found.set(id, new Set(['names']));
        if (id.startsWith('\0') || styles.test(id)) return;
        source.loaded.add(file);
        let program: SyntaxNode;
        try {
          program = this.parse(code) as unknown as SyntaxNode;
        } catch {
          return;
        }
        const written = findWritten(program);
        found.set(id, written);
        // The dev server has one environment for all pages, so each page is checked when it is served.
        const shownIn = environment === 'client' ? environment : 'prerender';
        const flaw = isBuild ? undefined : flawOf(written, id, shownIn);
        if (flaw === undefined) return;
        const { name, line } = placeIn(file, source);
        const message = `${name} ${flaw.message}`;
        if (flaw.code === undefined) return warn(id, message);
        this.error({
          message: `[astro-snippets/${flaw.code}] ${message}\n${hints[flaw.code]}`,
          id: file,
          loc: { file, line, column: 0 },
        });
      },
    },
    generateBundle: {
      // Astro moves small scripts from the bundle into pages.
      order: 'pre',
      async handler(_options, bundle) {
        const { name: environment } = this.environment;
        const moduleInfo = (id: string) => this.getModuleInfo(id);
        if (environment === (isMixed ? 'ssr' : 'prerender')) {
          source.importsOf = (id) => {
            const { importedIds = [], dynamicallyImportedIds = [] } = moduleInfo(id) ?? {};
            return [...importedIds, ...dynamicallyImportedIds];
          };
        }
        const found = modules.get(environment);
        if (found === undefined) return;
        const { checkBundle } = await import('./source-flaws.ts');
        checkBundle(bundle, found, { environment, isMixed, source, moduleInfo, warn });
      },
    },
  };
}
