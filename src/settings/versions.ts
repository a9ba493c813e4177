import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AstroConfig, HookParameters } from 'astro';

/** The version of astro-snippets, as package.json has it. */
export const packageVersion: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;

// Astro 5 lacks some of what the types of the current version promise, or names it differently.

/** An adapter's headers for pages. They are changed in place, as the adapter keeps a reference. */
export type RouteToHeaders = HookParameters<'astro:build:generated'>['routeToHeaders'];

/** Whether Astro writes a Content Security Policy. In Astro 5, this is an experiment. */
export function hasPolicy(config: AstroConfig): boolean {
  const { csp } = config.experimental as { csp?: unknown };
  return Boolean(config.security.csp || csp);
}

/** The headers that `astro:build:generated` passes. In Astro 5, they are an experiment. */
export function headersOf(parameters: { routeToHeaders: RouteToHeaders }): RouteToHeaders {
  const { experimentalRouteToHeaders } = parameters as { experimentalRouteToHeaders?: RouteToHeaders };
  return parameters.routeToHeaders ?? experimentalRouteToHeaders ?? new Map();
}

/** Whether Vite has an environment for prerendered pages, as since Astro 6. Until then, `ssr` has them. */
export const separatesPrerendered = (config: { environments?: Record<string, unknown> }): boolean =>
  Boolean(config.environments?.['prerender']);

/** The major version of the project's Astro. */
export const astroMajor = (root: string): number =>
  Number.parseInt(JSON.parse(readFileSync(astroPackage(root) ?? '', 'utf8')).version, 10);

/** The package.json of the project's Astro, or of the one that this package finds: a workspace may differ. */
export function astroPackage(root: string): string | undefined {
  for (const from of [join(root, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve('astro/package.json');
    } catch {}
  }
  return undefined;
}
