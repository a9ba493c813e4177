import { join } from 'node:path';
import type { IntegrationResolvedRoute } from 'astro';
import { fileOf } from './source-files.ts';

interface ModuleInfo {
  importers: readonly string[];
  dynamicImporters: readonly string[];
  isEntry: boolean;
}

/** What a module got into the server bundle through. */
export type Reached = 'page' | 'content' | 'middleware' | 'prerendered';

/** The server bundle, as far as it matters where a module is rendered. */
export interface ModuleGraph {
  moduleInfo(id: string): ModuleInfo | null;
  /** Whether something is rendered on demand at all. */
  hasOnDemand: boolean;
  /** Whether a module is itself rendered on demand. */
  isOnDemand(id: string, info: ModuleInfo | null): boolean;
}

// These import everything, so what is reached through them alone may not be shown on any on-demand page.
const contentModules =
  /astro:content|astro:asset-imports|content-modules\.mjs|data-layer|[?&]astro(?:Content|PropagatedAssets)/;
// It runs for prerendered pages too.
const middleware = /(?:virtual:astro:|astro-internal:)middleware/;

/** The graph of a bundle that contains only what is rendered on demand. */
export function onDemandGraph(moduleInfo: ModuleGraph['moduleInfo']): ModuleGraph {
  return {
    moduleInfo,
    hasOnDemand: true,
    isOnDemand: (_id, info) => (info?.importers.length ?? 0) + (info?.dynamicImporters.length ?? 0) === 0,
  };
}

/** The graph of a bundle that contains prerendered pages too, as in Astro 5. */
export function mixedGraph(
  moduleInfo: ModuleGraph['moduleInfo'],
  ids: Iterable<string>,
  routes: readonly IntegrationResolvedRoute[],
  root: string,
): ModuleGraph {
  const pages = new Set(
    routes
      .filter(({ isPrerendered, origin }) => !isPrerendered && origin !== 'internal')
      .map(({ entrypoint }) => fileOf(join(root, entrypoint))),
  );
  // Pages are entries by a virtual module, so an entry of its own is a server island.
  const isIsland = (id: string, info: ModuleInfo | null) => info?.isEntry === true && id.endsWith('.astro');
  return {
    moduleInfo,
    hasOnDemand: pages.size > 0 || [...ids].some((id) => isIsland(id, moduleInfo(id))),
    isOnDemand: (id, info) => isIsland(id, info) || pages.has(fileOf(id)),
  };
}

/**
 * Why a module is in the server bundle.
 *
 * @param throughContent whether a page also counts that imports the module by way of a collection.
 */
export function reachedThrough(
  id: string,
  { moduleInfo, hasOnDemand, isOnDemand }: ModuleGraph,
  throughContent = false,
): Reached {
  if (!hasOnDemand) return 'prerendered';
  const seen = new Set([id]);
  let reached: Reached | undefined;
  for (const each of seen) {
    if (!throughContent && contentModules.test(each)) {
      reached ??= 'content';
      continue;
    }
    if (middleware.test(each)) {
      reached = 'middleware';
      continue;
    }
    const info = moduleInfo(each);
    if (isOnDemand(each, info)) return 'page';
    for (const importer of [...(info?.importers ?? []), ...(info?.dynamicImporters ?? [])])
      seen.add(importer);
  }
  return reached ?? 'prerendered';
}
