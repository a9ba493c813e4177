import type { IntegrationResolvedRoute } from 'astro';
import type { SyntaxNode } from './syntax-tree.ts';

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

/** Parses JavaScript. Throws if the code is none. */
export type ParseCode = (code: string) => SyntaxNode;

/** A site before it is rendered: its folders, routes and modules. Made once the Astro config is done. */
export class SiteSource {
  readonly folders: SiteFolders;
  /** The option `base` of the Astro config. */
  readonly base: string;
  /** Replaced when Astro resolves routes again, while a dev server runs. */
  routes: readonly IntegrationResolvedRoute[];
  /** Set when pages have been bundled, or when a dev server starts. Unset in `astro sync`. */
  modules: ModuleGraph | undefined;
  /** The parser of the site's Vite, set when a bundle is made. */
  parse: ParseCode | undefined;
  /** Files that mention embeds and that Vite has loaded. Some are outside the project, as in a workspace. */
  readonly loaded: Set<string> = new Set();

  constructor(folders: SiteFolders, base: string, routes: readonly IntegrationResolvedRoute[]) {
    this.folders = folders;
    this.base = base;
    this.routes = routes;
  }
}
