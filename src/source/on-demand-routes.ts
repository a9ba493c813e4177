import { basename, extname, join } from 'node:path';
import type { IntegrationResolvedRoute } from 'astro';
import { type UserError, userError } from '../failures/errors.ts';
import { type ModuleEmbeds, nameOfModule } from './module-embeds.ts';
import type { SourceModules } from './source-plugin.ts';

/** What is known of the sources of a site. */
export interface SiteSource {
  modules: SourceModules;
  /** In the order in which Astro matches them. */
  routes: readonly IntegrationResolvedRoute[];
}

interface GraphModule {
  id: string | null;
  importedModules: Iterable<GraphModule>;
}

/** The part of Vite's dev server that is used here. */
interface ModuleServer {
  config: { root: string };
  environments: Record<
    string,
    { moduleGraph: { getModulesByFile(file: string): Iterable<GraphModule> | undefined } }
  >;
}

const islands = '/_server-islands/';

/**
 * The error for a page of `astro dev` that contains an embed although it is rendered on demand, with the sources of the
 * embed; `undefined` for a prerendered page.
 *
 * @param page the path of its URL, with the base.
 * @param base the base of the Astro config. In the dev server, Vite's own is `/`.
 */
export function onDemandError(
  page: string,
  base: string,
  source: SiteSource,
  server: ModuleServer,
): UserError | undefined {
  const { root } = server.config;
  const path = `/${page.slice(page.startsWith(base) ? base.length : 0).replace(/^\//, '')}`;
  const route = source.routes.find(({ patternRegex }) => patternRegex.test(decode(path)));
  if (route === undefined || route.isPrerendered) return undefined;
  const island = path.startsWith(islands) ? path.slice(islands.length) : undefined;
  const found =
    island === undefined
      ? modulesBehind(join(root, route.entrypoint), source, server)
      : [...(source.modules.get('ssr')?.values() ?? [])].filter(
          ({ id }) => basename(id, extname(id)) === island,
        );
  const files = found.map(({ id, written, imports }) => {
    return `\n${nameOfModule(id, root)}:${[...written, ...imports].join(', ')}`;
  });
  const what = island === undefined ? `${page} (route ${route.pattern})` : `The server island ${island}`;
  return userError(
    'on-demand-page',
    `${what} is rendered on demand, and contains an embed. Snippets are inlined while the site is built.${files.join('')}`,
  );
}

/** The modules with embeds that a route imports, directly or not. */
function modulesBehind(
  entrypoint: string,
  { modules }: SiteSource,
  { environments }: ModuleServer,
): ModuleEmbeds[] {
  const seen = new Set(environments['ssr']?.moduleGraph.getModulesByFile(entrypoint));
  for (const { importedModules } of seen) for (const imported of importedModules) seen.add(imported);
  return [...seen].flatMap(({ id }) => modules.get('ssr')?.get(id ?? '') ?? []);
}

function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
