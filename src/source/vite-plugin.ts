import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger } from 'astro';
import type { Plugin } from 'vite';
import { hints } from '../failures/error-table.ts';
import { separatesPrerendered } from '../settings/astro-version.ts';
import type { SyntaxNode, WrittenEmbeds } from './find-written.ts';
import type { SiteSource } from './site-source.ts';

const ownFolder = fileURLToPath(new URL('..', import.meta.url)).replaceAll('\\', '/');

// In `astro dev`, Vite replaces an import with its URL.
const mention = new RegExp(
  `snippet-embed|astro-snippets/(?:dist/)?components|${ownFolder.replace(/[^\w/]/g, '\\$&')}components/`,
  'i',
);

const styles = /\.(?:css|scss|sass|less|styl|stylus|pcss|postcss)(?:$|\?)|[?&]type=style/;

/** Rejects embeds that nothing would replace. A build checks bundles, `astro dev` modules. What `onMention` throws fails it. */
export function sourcePlugin(
  source: SiteSource,
  astro: number,
  logger: AstroIntegrationLogger,
  onMention: () => Promise<void>,
): Plugin {
  const modules = new Map<string, Map<string, WrittenEmbeds>>();
  const warned = new Set<string>();
  const warn = (file: string, message: string) => {
    if (!warned.has(file)) logger.warn(message);
    warned.add(file);
  };
  return {
    name: 'astro-snippets:source',
    enforce: 'post',
    load: {
      // Before the compiler, whose error names neither file nor line.
      order: 'pre',
      filter: { id: astro >= 7 ? /\.mdx$/ : /\.(?:astro|mdx)$/ },
      async handler(id) {
        const text = await readFile(id, 'utf8').catch(() => '');
        if (!/<snippet/i.test(text)) return;
        const { refuseUnrendered } = await import('./refuse-unrendered.ts');
        refuseUnrendered(text, id, source.folders.root, astro);
      },
    },
    transform: {
      order: 'post',
      filter: { code: mention },
      async handler(text, id) {
        // Not loaded for a site without embeds.
        const { findWritten } = await import('./find-written.ts');
        const { flawOf, isStore } = await import('./check-bundle.ts');
        const { fileOf } = await import('./source-file.ts');
        const { placeIn } = await import('./source-embeds.ts');
        const file = fileOf(id);
        // This package's own code.
        if (file.startsWith(ownFolder)) return;
        await onMention();
        const { name: environment, mode } = this.environment;
        const found = modules.get(environment) ?? new Map<string, WrittenEmbeds>();
        modules.set(environment, found);
        // It is too long to be read.
        if (isStore(id)) found.set(id, new Set(['names']));
        if (id.startsWith('\0') || styles.test(id)) return;
        source.loaded.add(file);
        let program: SyntaxNode;
        try {
          program = this.parse(text) as unknown as SyntaxNode;
        } catch {
          return;
        }
        const written = findWritten(program);
        found.set(id, written);
        if (mode === 'build') return;
        // Each page of the dev server is checked when it is served.
        const [what, code] = flawOf(written, id, environment === 'client' ? environment : 'prerender') ?? [];
        if (!what) return;
        const { place, line } = placeIn(file, source.folders.root);
        if (!code) return warn(file, `${place} ${what}`);
        const message = `[astro-snippets/${code}] ${place} ${what}\n${hints[code]}`;
        this.error({ message, id: file, loc: { file, line, column: 0 } });
      },
    },
    generateBundle: {
      // Astro moves small scripts from the bundle into pages.
      order: 'pre',
      async handler(_options, bundle) {
        const { name: environment } = this.environment;
        source.isMixed = !separatesPrerendered(this.environment.getTopLevelConfig());
        if (environment === (source.isMixed ? 'ssr' : 'prerender')) {
          source.importsOf = (id) => {
            const { importedIds = [], dynamicallyImportedIds = [] } = this.getModuleInfo(id) ?? {};
            return [...importedIds, ...dynamicallyImportedIds];
          };
        }
        const found = modules.get(environment);
        if (!found) return;
        const { checkBundle } = await import('./check-bundle.ts');
        checkBundle(this, bundle, found, source, warn);
      },
    },
  };
}
