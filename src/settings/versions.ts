import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AstroConfig, HookParameters } from 'astro';

const packageFacts = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The version of astro-snippets, as package.json has it. */
export const packageVersion: string = packageFacts.version;

/** The URL of the repository, as package.json has it. */
export const packageHomepage: string = packageFacts.homepage.replace(/#.*/, '');

// The functions below hide differences of Astro 5, which lacks or renames some of what Astro's types say.

/** The headers of each page, for an adapter. Change the map in place: the adapter keeps a reference to it. */
export type RouteToHeaders = HookParameters<'astro:build:generated'>['routeToHeaders'];

/** Whether Astro writes a Content Security Policy. In Astro 5, that is an experimental option. */
export function hasPolicy(config: AstroConfig): boolean {
  const { csp } = config.experimental as { csp?: unknown };
  return Boolean(config.security.csp || csp);
}

/** The headers that `astro:build:generated` passes. In Astro 5, their name starts with `experimental`. */
export function headersOf(parameters: { routeToHeaders: RouteToHeaders }): RouteToHeaders {
  const { experimentalRouteToHeaders } = parameters as { experimentalRouteToHeaders?: RouteToHeaders };
  return parameters.routeToHeaders ?? experimentalRouteToHeaders ?? new Map();
}

/** Whether Vite has its own environment for prerendered pages (since Astro 6). Before, `ssr` builds them. */
export const separatesPrerendered = (config: { environments?: Record<string, unknown> }): boolean =>
  Boolean(config.environments?.['prerender']);

/** The major version of the project's Astro. */
export const astroMajor = (root: string): number =>
  Number.parseInt(JSON.parse(readFileSync(astroPackage(root) ?? '', 'utf8')).version, 10);

/** The package.json of the project's Astro, else of the Astro that this package finds; they can differ. */
export function astroPackage(root: string): string | undefined {
  for (const from of [join(root, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve('astro/package.json');
    } catch {}
  }
  return undefined;
}
