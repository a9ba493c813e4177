import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger } from 'astro';
import type { Plugin, Rolldown } from 'vite';
import { errorTable } from '../failures/error-table.ts';
import { separatesPrerendered } from '../settings/versions.ts';
import type { WrittenEmbeds } from './find-written.ts';
import type { CompiledMdx } from './mdx-images.ts';
import type { ModuleGraph, SiteSource } from './site-source.ts';
import type { SyntaxNode } from './syntax-tree.ts';

const ownFolder = fileURLToPath(new URL('..', import.meta.url)).replaceAll('\\', '/');

/**
 * The element, or an import of the component. A dev server replaces `astro-snippets/components` with the
 * file's URL: `/node_modules/astro-snippets/dist/components/…`, or the path of a linked package.
 */
const mention = new RegExp(
  `snippet-embed|astro-snippets/(?:dist/)?components|${ownFolder.replace(/[^\w/]/g, '\\$&')}components/`,
  'i',
);

/** Ids of style sheets: `theme.scss?inline`, `Card.astro?astro&type=style`. Not parsed as JavaScript. */
const styleModule = /\.(?:css|scss|sass|less|styl|stylus|pcss|postcss)(?:$|\?)|[?&]type=style/;

interface SourcePluginOptions {
  /** Asked when a module is loaded: plugins are made before the Astro config is done. */
  source: () => SiteSource;
  /** The major version of Astro. */
  astro: number;
  logger: AstroIntegrationLogger;
  /** Called for each module that mentions an embed. An error that it throws fails the build. */
  onMention: () => Promise<void>;
}

/**
 * Rejects embeds that nothing would replace: lost before a page is rendered, in the browser, or rendered on
 * demand. A build checks which modules its bundles contain; `astro dev` checks each module when it is loaded.
 */
export function sourcePlugin({ source, astro, logger, onMention }: SourcePluginOptions): Plugin {
  const mentionsByEnvironment = new Map<string, Map<string, WrittenEmbeds>>();
  const warned = new Set<string>();
  /** @param subject what at most one warning is about: a file, or the message itself */
  const warnOnce = (subject: string, message: string) => {
    if (!warned.has(subject)) logger.warn(message);
    warned.add(subject);
  };

  return {
    name: 'astro-snippets:source',
    enforce: 'post',

    load: {
      // Runs before Astro's compiler, whose own error for such a source lacks the file and the line.
      order: 'pre',
      filter: { id: astro >= 7 ? /\.mdx$/ : /\.(?:astro|mdx)$/ },
      async handler(id) {
        const text = await readFile(id, 'utf8').catch(() => '');
        const isMdx = id.endsWith('.mdx');
        if (!(isMdx ? /!\[/ : /<snippet/i).test(text)) return;
        const { root } = source().folders;
        const { refuseInImages, refuseInTitle } = await import('./refuse-unrendered.ts');
        if (!isMdx) return refuseInTitle(text, id, root, astro);
        const compile = mdxCompiler(this, id);
        // A file may lose several components, and be loaded once for each of Vite's environments.
        const warn = (message: string) => warnOnce(message, message);
        if (compile) await refuseInImages(text, id, root, compile, warn);
      },
    },

    transform: {
      order: 'post',
      filter: { code: mention },
      async handler(text, id) {
        // Loaded here, so that a site without embeds loads none of this code.
        const { findWritten } = await import('./find-written.ts');
        const { flawOf, isCollectionStore } = await import('./check-bundle.ts');
        const { fileOf } = await import('./source-file.ts');
        const { placeIn } = await import('./source-embeds.ts');

        const file = fileOf(id);
        // Modules of this package also name the element, and are skipped: only those of the site are checked.
        if (file.startsWith(ownFolder)) return;
        await onMention();

        const { name: environment, mode } = this.environment;
        const mentions = mentionsByEnvironment.get(environment) ?? new Map<string, WrittenEmbeds>();
        mentionsByEnvironment.set(environment, mentions);
        // The store of collections holds all entries in one string, which is too long to be parsed.
        if (isCollectionStore(id)) mentions.set(id, new Set(['names']));
        if (id.startsWith('\0') || styleModule.test(id)) return;
        source().loaded.add(file);

        let program: SyntaxNode;
        try {
          program = this.parse(text) as unknown as SyntaxNode;
        } catch {
          return;
        }
        const written = findWritten(program);
        mentions.set(id, written);
        if (mode === 'build') return;

        // Modules for the server count as prerendered here: each page is checked when it is served.
        const flaw = flawOf(written, id, environment === 'client' ? environment : 'prerender');
        if (!flaw) return;
        const { place, line } = placeIn(file, source().folders.root);
        const message = `${place} ${flaw.message}`;
        if (!flaw.code) return warnOnce(file, message);
        this.error({
          message: `[astro-snippets/${flaw.code}] ${message}\n${errorTable[flaw.code].hint}`,
          id: file,
          loc: { file, line, column: 0 },
        });
      },
    },

    generateBundle: {
      // Runs before Astro moves small scripts from the bundle into pages, where they would not be checked.
      order: 'pre',
      async handler(_options, bundle) {
        const { name: environment } = this.environment;
        source().parse = (code) => this.parse(code) as unknown as SyntaxNode;
        const isMixed = !separatesPrerendered(this.environment.getTopLevelConfig());
        // The environment that renders the prerendered pages has the modules behind them.
        if (environment === (isMixed ? 'ssr' : 'prerender')) source().modules = bundledModules(this);

        const mentions = mentionsByEnvironment.get(environment);
        if (!mentions) return;
        const { checkBundle } = await import('./check-bundle.ts');
        await checkBundle({ context: this, bundle, mentions, isMixed }, source(), warnOnce);
      },
    },
  };
}

/** Compiles MDX with the plugin that the site has for it; `undefined` if there is none. */
function mdxCompiler(context: Rolldown.PluginContext, id: string) {
  const { plugins } = context.environment.getTopLevelConfig();
  const transform = plugins.find(({ name }) => name.startsWith('@mdx-js/'))?.transform;
  const compile = typeof transform === 'object' ? transform.handler : transform;
  if (!compile) return undefined;
  return async (source: string): Promise<CompiledMdx> => {
    const result = await Reflect.apply(compile, context, [source, id]);
    const code = typeof result === 'string' ? result : String(result?.code ?? '');
    return { code, program: context.parse(code) as unknown as SyntaxNode };
  };
}

function bundledModules(context: Rolldown.PluginContext): ModuleGraph {
  return {
    importsOf(id) {
      const { importedIds = [], dynamicallyImportedIds = [] } = context.getModuleInfo(id) ?? {};
      return [...importedIds, ...dynamicallyImportedIds];
    },
  };
}
