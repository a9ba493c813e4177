import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AstroConfig, AstroIntegration } from 'astro';

/** The headers that an adapter sends with each page. Changed in place, because the adapter keeps a reference. */
export type RouteToHeaders = Parameters<
  NonNullable<AstroIntegration['hooks']['astro:build:generated']>
>[0]['routeToHeaders'];

// Types are those of the newest version, and what is read here has another name, or is missing, in an older one.

/** Whether Astro writes a Content Security Policy. An experiment in Astro 5. */
export function hasPolicy(config: AstroConfig): boolean {
  const { csp } = config.experimental as { csp?: unknown };
  return Boolean(config.security.csp || csp);
}

/** The headers of routes, from the parameters of `astro:build:generated`. An experiment in Astro 5. */
export function headersOf(parameters: { routeToHeaders: RouteToHeaders }): RouteToHeaders {
  const { experimentalRouteToHeaders } = parameters as { experimentalRouteToHeaders?: RouteToHeaders };
  return parameters.routeToHeaders ?? experimentalRouteToHeaders ?? new Map();
}

/** Whether Vite's `ssr` contains only what is rendered on demand. Since Astro 6: what is prerendered is beside it. */
export function separatesPrerendered(config: { environments?: Record<string, unknown> }): boolean {
  return config.environments?.['prerender'] !== undefined;
}

export function astroMajor(root: string): number {
  return Number.parseInt(JSON.parse(readFileSync(astroPackage(root) ?? '', 'utf8')).version, 10);
}

/** The project's own Astro first: this package may find another one, as in a workspace. */
export function astroPackage(root: string): string | undefined {
  for (const from of [join(root, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve('astro/package.json');
    } catch {}
  }
  return undefined;
}
