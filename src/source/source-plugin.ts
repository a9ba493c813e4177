import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger, ViteUserConfig } from 'astro';
import { type ErrorCode, errors, userError } from '../failures/errors.ts';
import { separatesPrerendered } from '../settings/astro-version.ts';
import type { Reached } from './module-graph.ts';
import { fileOf, shownSource } from './source-files.ts';
import type { SiteSource } from './source-search.ts';
import type { SyntaxNode, WrittenEmbeds } from './written-embeds.ts';

type Plugins = NonNullable<ViteUserConfig['plugins']>;
type Plugin = Extract<Exclude<Plugins[number], false | null | undefined>, { name: string }>;

const ownFolder = fileOf(fileURLToPath(new URL('..', import.meta.url)));
// In `astro dev`, Vite has replaced what is imported with its URL.
const mention = new RegExp(
  `snippet-embed|astro-snippets/(?:dist/)?components|${ownFolder.replace(/[^\w/]/g, '\\$&')}components/`,
  'i',
);
// The site cannot change these, or the text of a raw file may be an example.
const isOnlyWarned = (id: string) => id.includes('/node_modules/') || /[?&]raw\b/.test(id);
const contentStore = /astro:data-layer-content$/;
const styles = /\.(?:css|scss|sass|less|styl|stylus|pcss|postcss)(?:$|\?)|[?&]type=style/;

/**
 * Rejects modules that write embeds where nothing replaces them: in the browser, and where pages are rendered on demand.
 * A build checks what is in the bundles, `astro dev` each module that is loaded.
 *
 * @param source what is known of the site. It receives what is found.
 * @param onMention called for each module that mentions embeds. Whatever it throws fails the build.
 */
export function sourcePlugin(
  source: SiteSource,
  logger: AstroIntegrationLogger,
  onMention: () => Promise<void>,
): Plugin {
  let root = '';
  let isBuild = true;
  let isMixed = false;
  /** The modules that deal with embeds, by environment and id. */
  const modules = new Map<string, Map<string, WrittenEmbeds>>();
  const modulesOf = (environment: string) => {
    const found = modules.get(environment) ?? new Map<string, WrittenEmbeds>();
    modules.set(environment, found);
    return found;
  };
  /** In a mixed environment: warnings about modules that may turn out to be prerendered only. */
  const pending = new Map<string, string>();
  const warned = new Set<string>();
  const warn = (id: string, message: string) => {
    const file = fileOf(id);
    if (!warned.has(file)) logger.warn(message);
    warned.add(file);
  };
  const warnIn = (environment: string, id: string, message: string) => {
    if (isMixed && environment === 'ssr') pending.set(id, message);
    else warn(id, message);
  };
  const nameOf = (id: string) => {
    const name = shownSource(id, root);
    return name.startsWith('..') ? fileOf(id) : name;
  };

  return {
    name: 'astro-snippets:source',
    enforce: 'post',
    configResolved(config) {
      root = config.root;
      isBuild = config.command === 'build';
      isMixed = isBuild && !separatesPrerendered(config);
    },
    transform: {
      order: 'post',
      filter: { code: mention },
      async handler(code, id) {
        // This package's own code says nothing about the site.
        if (fileOf(id).startsWith(ownFolder)) return;
        await onMention();
        const { name: environment } = this.environment;
        const found = modulesOf(environment);
        found.delete(id);
        if (contentStore.test(id)) {
          if (environment === 'ssr' && isBuild) warnIn(environment, id, storeWarning);
          return;
        }
        if (id.startsWith('\0') || styles.test(id)) return;
        source.loaded.add(fileOf(id));
        let program: SyntaxNode;
        try {
          program = this.parse(code) as unknown as SyntaxNode;
        } catch {
          return;
        }
        // Loaded only here and below: a site without embeds needs none of it.
        const { findWritten } = await import('./written-embeds.ts');
        const module = findWritten(program);
        if (module.isMentioned && environment !== 'prerender' && (isBuild || environment === 'client')) {
          warnIn(environment, id, mentionWarning(nameOf(id), environment));
        }
        const refused = refusal(module, environment, { isBuild });
        if (refused === undefined && !module.isWritten && !module.importsComponent) return;
        if (isOnlyWarned(id)) {
          if (environment !== 'prerender' && refused)
            warnIn(environment, id, mentionWarning(nameOf(id), environment));
          return;
        }
        found.set(id, module);
        if (isBuild || refused === undefined) return;
        const { linesIn } = await import('./source-search.ts');
        const lines = linesIn(fileOf(id));
        this.error({
          message: `[astro-snippets/${refused.code}] ${placeOf(nameOf(id), lines)} ${refused.message}\n${errors[refused.code].hint}`,
          id: fileOf(id),
          loc: { file: fileOf(id), line: lines[0] ?? 1, column: 0 },
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
        const found = modulesOf(environment);
        if (pending.size === 0 && found.size === 0) return;
        const { mixedGraph, onDemandGraph, reachedThrough } = await import('./module-graph.ts');
        const graph = isMixed
          ? mixedGraph(moduleInfo, this.getModuleIds(), source.routes, root)
          : onDemandGraph(moduleInfo);
        if (environment === 'ssr') {
          for (const [id, message] of pending) {
            const reached = reachedThrough(id, graph, contentStore.test(id));
            if (reached !== 'prerendered') warn(id, message);
          }
        }
        const candidates = [...found].flatMap(([id, module]) => {
          const refused = refusal(module, environment, { isBuild: true });
          return refused === undefined ? [] : [{ id, module, refused }];
        });
        // A bundle hands over the code of its modules as a copy of each, so it is not asked for nothing.
        if (candidates.length === 0) return;
        const { linesIn } = await import('./source-search.ts');
        const rendered = new Map<string, string>();
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== 'chunk') continue;
          for (const [id, { code }] of Object.entries(chunk.modules)) rendered.set(id, code ?? '');
        }
        const isComponent = (id: string) => fileOf(id) === `${ownFolder}components/Snippet.astro`;
        const hasComponent = [...rendered].some(([id, code]) => code !== '' && isComponent(id));
        const isPublished = (id: string, { importsComponent, isWritten, isPassedToIsland }: WrittenEmbeds) =>
          (importsComponent && hasComponent && rendered.has(id)) ||
          ((isWritten || isPassedToIsland) && /snippet/i.test(rendered.get(id) ?? ''));
        const errors: (Refused & { place: string })[] = [];
        for (const { id, module, refused } of candidates) {
          if (!isPublished(id, module)) continue;
          const place = placeOf(nameOf(id), linesIn(fileOf(id)));
          const route = environment === 'ssr' ? reachedThrough(id, graph) : 'page';
          // The slot of a server island is rendered on demand on any page.
          const here = route === 'prerendered' ? refusal(module, 'prerender') : refused;
          if (here === undefined) continue;
          if (route === 'page' || route === 'prerendered') errors.push({ ...here, place });
          else warn(id, `${place} contains an embed, and ${routeWarnings[route]} ${whatWorks}`);
        }
        const [first] = errors;
        if (first === undefined) return;
        const entries = errors
          .sort((a, b) => (a.place < b.place ? -1 : 1))
          .map(({ place, message }) => `${place}\n    ${message}`);
        throw userError(
          first.code,
          `${errors.length === 1 ? 'A file contains' : `${errors.length} files contain`} embeds where no snippet can be inlined.\n\n${entries.join('\n\n')}\n`,
        );
      },
    },
  };
}

interface Refused {
  code: Extract<ErrorCode, 'embed-in-browser' | 'on-demand-page'>;
  message: string;
}

const inBrowser: Refused = {
  code: 'embed-in-browser',
  message: 'writes <snippet-embed> in the browser, where nothing replaces it.',
};
const onDemand: Refused = {
  code: 'on-demand-page',
  message: 'is built for pages or server islands that are rendered on demand, and contains an embed.',
};
const inIsland: Refused = {
  code: 'on-demand-page',
  message: 'passes an embed to a server island, which is rendered on demand.',
};

/** Why a module of this environment must not be published; `undefined` if it may. */
function refusal(
  { isWritten, isPassedToIsland, importsComponent }: WrittenEmbeds,
  environment: string,
  { isBuild = false } = {},
): Refused | undefined {
  if (environment === 'client') return isWritten || isPassedToIsland ? inBrowser : undefined;
  // The dev server has one environment for all pages, so each page is checked when it is served.
  if (environment === 'ssr' && isBuild && (isWritten || importsComponent)) return onDemand;
  return isPassedToIsland ? inIsland : undefined;
}

function placeOf(name: string, lines: readonly number[]): string {
  return lines.length === 0 ? name : `${name}:${lines.join(' or ')}`;
}

const whatWorks =
  'On demand, fetch the snippet with SnippetClient from astro-snippets/client in the frontmatter of the page.';

const routeWarnings: Record<Exclude<Reached, 'page' | 'prerendered'>, string> = {
  content:
    'pages that are rendered on demand could show this entry of a collection: its embed would stay empty there.',
  middleware:
    'the middleware runs for pages that are rendered on demand, too: its embed would stay empty there.',
};

const storeWarning = `Collections contain embeds, and pages that are rendered on demand use collections: such an embed would stay empty there. ${whatWorks}`;

function mentionWarning(name: string, environment: string): string {
  const place = environment === 'client' ? 'in the browser' : 'on a page that is rendered on demand';
  return `${name} mentions snippet-embed. An embed that it writes ${place} would stay empty.`;
}
