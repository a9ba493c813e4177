import type { IntegrationResolvedRoute } from 'astro';

export interface SiteSource {
  folders: Record<'root' | 'srcDir' | 'publicDir' | 'outDir', string>;
  base: string;
  routes: readonly IntegrationResolvedRoute[];
  /** Files that Vite has loaded, and that mention embeds, also outside the project. */
  loaded: Set<string>;
  /** Whether the server bundle also has the prerendered pages, as in Astro 5. */
  isMixed?: boolean;
  importsOf?: (id: string) => Iterable<string>;
}
