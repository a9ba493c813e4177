import type { IntegrationResolvedRoute } from 'astro';

/** The folders of an Astro project, as absolute paths. */
export interface SiteFolders {
  root: string;
  srcDir: string;
  publicDir: string;
  outDir: string;
}

/** The modules of a site, as its bundler or its dev server has loaded them. */
export interface ModuleGraph {
  /** The ids of the modules that a module imports, dynamic imports included. */
  importsOf(id: string): Iterable<string>;
}

interface SiteSourceOptions {
  folders: SiteFolders;
  /** The option `base` of the Astro config. */
  base: string;
  routes: readonly IntegrationResolvedRoute[];
}

/**
 * A site before it is rendered: its folders, its routes and its modules. Made once the Astro config is done.
 * Two things arrive later: routes change while a dev server runs, and modules are known when they are
 * bundled.
 */
export class SiteSource {
  readonly folders: SiteFolders;
  readonly base: string;
  /** Files that mention embeds and that Vite has loaded. Some are outside the project, as in a workspace. */
  readonly loaded: Set<string> = new Set();
  #routes: readonly IntegrationResolvedRoute[];
  #modules: ModuleGraph | undefined;

  constructor({ folders, base, routes }: SiteSourceOptions) {
    this.folders = folders;
    this.base = base;
    this.#routes = routes;
  }

  get routes(): readonly IntegrationResolvedRoute[] {
    return this.#routes;
  }

  /** Modules of the pages; `undefined` until `provideModules` is called, and in a sync. */
  get modules(): ModuleGraph | undefined {
    return this.#modules;
  }

  /** Takes over the routes after Astro has resolved them again. */
  updateRoutes(routes: readonly IntegrationResolvedRoute[]): void {
    this.#routes = routes;
  }

  /** Called when pages have been bundled, or when a dev server starts. */
  provideModules(modules: ModuleGraph): void {
    this.#modules = modules;
  }
}
