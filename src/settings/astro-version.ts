import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AstroConfig, HookParameters } from 'astro';

/** An adapter's headers for pages. Changed in place: it keeps a reference. */
export type RouteToHeaders = HookParameters<'astro:build:generated'>['routeToHeaders'];

// Older versions than the types lack some of this, or name it differently.

/** Whether Astro writes a Content Security Policy. An experiment in Astro 5. */
export function hasPolicy(config: AstroConfig): boolean {
  const { csp } = config.experimental as { csp?: unknown };
  return Boolean(config.security.csp || csp);
}

/** Of `astro:build:generated`. An experiment in Astro 5. */
export function headersOf(parameters: { routeToHeaders: RouteToHeaders }): RouteToHeaders {
  const { experimentalRouteToHeaders } = parameters as { experimentalRouteToHeaders?: RouteToHeaders };
  return parameters.routeToHeaders ?? experimentalRouteToHeaders ?? new Map();
}

/** Whether prerendered pages are not in Vite's `ssr`, as since Astro 6. */
export const separatesPrerendered = (config: { environments?: Record<string, unknown> }): boolean =>
  Boolean(config.environments?.['prerender']);

export const astroMajor = (root: string): number =>
  Number.parseInt(JSON.parse(readFileSync(astroPackage(root) ?? '', 'utf8')).version, 10);

/** The project's own first: this package may find another, as in a workspace. */
export function astroPackage(root: string): string | undefined {
  for (const from of [join(root, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve('astro/package.json');
    } catch {}
  }
  return undefined;
}
