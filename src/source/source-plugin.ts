import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger, ViteUserConfig } from 'astro';
import { type ErrorCode, errors, userError } from '../failures/errors.ts';
import { separatesPrerendered } from '../settings/astro-version.ts';
import type { ModuleEmbeds } from './module-embeds.ts';
import type { Reached } from './module-graph.ts';
import type { SiteSource } from './on-demand-routes.ts';
import { fileOf } from './source-files.ts';
import type { SyntaxNode } from './written-embeds.ts';

type Plugins = NonNullable<ViteUserConfig['plugins']>;
type Plugin = Extract<Exclude<Plugins[number], false | null | undefined>, { name: string }>;

/** The modules of a site that deal with embeds, by environment and id, as Vite has transformed them so far. */
export type SourceModules = Map<string, Map<string, ModuleEmbeds>>;

const ownFolder = fileURLToPath(new URL('..', import.meta.url));
const componentFile = join(ownFolder, 'components/Snippet.astro');
// The site cannot change these, or the text of a raw file may be an example.
const isOnlyWarned = (id: string) => id.includes('/node_modules/') || /[?&]raw\b/.test(id);
const contentStore = /astro:data-layer-content$/;
const styles = /\.(?:css|scss|sass|less|styl|stylus|pcss|postcss)(?:$|\?)|[?&]type=style/;

const clientMessage = 'writes <snippet-embed> in the browser, where nothing replaces it.';
const islandMessage = 'passes an embed to a server island, which is rendered on demand.';
const serverMessage =
  'is built for pages or server islands that are rendered on demand, and contains an embed.';

/**
 * Rejects modules that write embeds where nothing replaces them: in the browser, and where pages are rendered on demand.
 * A build checks what is in the bundles, `astro dev` each module that is loaded.
 *
 * @param source what is known of the site. Its modules receive what is found.
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
  const { modules } = source;
  /** In a mixed environment: warnings about modules that may turn out to be prerendered only. */
  const pending = new Map<string, string>();
  const warned = new Set<string>();
  const warn = (id: string, message: string) => {
    const file = fileOf(id);
    if (warned.has(file)) return;
    warned.add(file);
    logger.warn(message);
  };
  const warnIn = (environment: string, id: string, message: string) => {
    if (isMixed && environment === 'ssr') pending.set(id, message);
    else warn(id, message);
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
      filter: { code: /snippet-embed|astro-snippets\/components/i },
      async handler(code, id) {
        // This package's own code says nothing about the site.
        if (fileOf(id).startsWith(ownFolder)) return;
        await onMention();
        // Loaded only here and below: a site without embeds needs neither.
        const { nameOfModule, readModule } = await import('./module-embeds.ts');
        const { name: environment } = this.environment;
        const found = modulesOf(modules, environment);
        found.delete(id);
        if (contentStore.test(id)) {
          if (environment === 'ssr' && isBuild) warnIn(environment, id, storeWarning);
          return;
        }
        if (id.startsWith('\0') || styles.test(id)) return;
        let program: SyntaxNode;
        try {
          program = this.parse(code) as SyntaxNode;
        } catch {
          return;
        }
        const map = () => {
          const { version, ...rest } = this.getCombinedSourcemap();
          return { ...rest, version: Number(version), sourceRoot: '', file: '' } as never;
        };
        const module = readModule({ id, code, program, map });
        const name = nameOfModule(id, root);
        if (module.isMentioned && environment !== 'prerender' && (isBuild || environment === 'client')) {
          warnIn(environment, id, mentionWarning(name, environment));
        }
        const refused = refusal(module, environment, { isBuild });
        if (refused === undefined && module.written.length + module.imports.length === 0) return;
        if (isOnlyWarned(id)) {
          if (environment !== 'prerender' && refused)
            warnIn(environment, id, mentionWarning(name, environment));
          return;
        }
        found.set(id, module);
        if (isBuild || refused === undefined) return;
        const [line = 1] = refused.lines;
        this.error({
          message: `[astro-snippets/${refused.code}] ${name}:${line} ${refused.message}\n${errors[refused.code].hint}`,
          id: fileOf(id),
          loc: { file: fileOf(id), line, column: 0 },
        });
      },
    },
    generateBundle: {
      // Astro moves small scripts from the bundle into pages.
      order: 'pre',
      async handler(_options, bundle) {
        const { name: environment } = this.environment;
        if (pending.size === 0 && modulesOf(modules, environment).size === 0) return;
        const { nameOfModule } = await import('./module-embeds.ts');
        const { mixedGraph, onDemandGraph, reachedThrough } = await import('./module-graph.ts');
        const moduleInfo = (id: string) => this.getModuleInfo(id);
        const graph = isMixed
          ? mixedGraph(moduleInfo, this.getModuleIds(), source, root)
          : onDemandGraph(moduleInfo);
        if (environment === 'ssr') {
          for (const [id, message] of pending) {
            const reached = reachedThrough(id, graph, contentStore.test(id));
            if (reached !== 'prerendered') warn(id, message);
          }
        }
        const candidates = [...modulesOf(modules, environment).values()].flatMap((module) => {
          const found = refusal(module, environment, { isBuild: true });
          return found === undefined ? [] : [{ module, found }];
        });
        // A bundle hands over the code of its modules as a copy of each, so it is not asked for nothing.
        if (candidates.length === 0) return;
        const rendered = new Map<string, string>();
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== 'chunk') continue;
          for (const [id, { code }] of Object.entries(chunk.modules)) rendered.set(id, code ?? '');
        }
        const hasComponent = [...rendered].some(([id, code]) => code !== '' && id.startsWith(componentFile));
        const isPublished = ({ id, written, passedToIsland, imports }: ModuleEmbeds) =>
          (imports.length > 0 && hasComponent && rendered.has(id)) ||
          (written.length + passedToIsland.length > 0 && /snippet/i.test(rendered.get(id) ?? ''));
        const refused: (Refused & { name: string })[] = [];
        for (const { module, found } of candidates) {
          if (!isPublished(module)) continue;
          const name = nameOfModule(module.id, root);
          const route = environment === 'ssr' ? reachedThrough(module.id, graph) : 'page';
          // The slot of a server island is rendered on demand on any page.
          const here = route === 'prerendered' ? refusal(module, 'prerender') : found;
          if (here === undefined) continue;
          if (route === 'page' || route === 'prerendered') refused.push({ ...here, name });
          else warn(module.id, routeWarnings[route](name, here.lines));
        }
        const [first] = refused;
        if (first === undefined) return;
        const entries = refused
          .sort((a, b) => (a.name < b.name ? -1 : 1))
          .map(({ name, lines, message }) => `${name}:${lines.join(', ')}\n    ${message}`);
        throw userError(
          first.code,
          `${refused.length === 1 ? 'A file contains' : `${refused.length} files contain`} embeds where no snippet can be inlined.\n\n${entries.join('\n\n')}\n`,
        );
      },
    },
  };
}

interface Refused {
  code: Extract<ErrorCode, 'embed-in-browser' | 'on-demand-page'>;
  message: string;
  lines: readonly number[];
}

/** Why a module of this environment must not be published; `undefined` if it may. */
function refusal(
  { written, passedToIsland, imports }: ModuleEmbeds,
  environment: string,
  { isBuild = false } = {},
): Refused | undefined {
  if (environment === 'client') {
    const lines = [...written, ...passedToIsland];
    return lines.length > 0 ? { code: 'embed-in-browser', message: clientMessage, lines } : undefined;
  }
  // The dev server has one environment for all pages, so each page is checked when it is served.
  const lines = environment === 'ssr' && isBuild ? [...written, ...imports] : [];
  if (lines.length > 0) return { code: 'on-demand-page', message: serverMessage, lines };
  if (passedToIsland.length === 0) return undefined;
  return { code: 'on-demand-page', message: islandMessage, lines: passedToIsland };
}

const whatWorks =
  'On demand, fetch the snippet with SnippetClient from astro-snippets/client in the frontmatter of the page.';

const routeWarnings: Record<
  Exclude<Reached, 'page' | 'prerendered'>,
  (name: string, lines: readonly number[]) => string
> = {
  content: (name, lines) =>
    `${name}:${lines.join(', ')} contains an embed, and pages that are rendered on demand could show this entry of a collection: its embed would stay empty there. ${whatWorks}`,
  middleware: (name, lines) =>
    `${name}:${lines.join(', ')} contains an embed, and the middleware runs for pages that are rendered on demand, too: its embed would stay empty there. ${whatWorks}`,
};

const storeWarning = `Collections contain embeds, and pages that are rendered on demand use collections: such an embed would stay empty there. ${whatWorks}`;

function mentionWarning(name: string, environment: string): string {
  const place = environment === 'client' ? 'in the browser' : 'on a page that is rendered on demand';
  return `${name} mentions snippet-embed. An embed that it writes ${place} would stay empty.`;
}

function modulesOf(modules: SourceModules, environment: string): Map<string, ModuleEmbeds> {
  const found = modules.get(environment) ?? new Map<string, ModuleEmbeds>();
  modules.set(environment, found);
  return found;
}
