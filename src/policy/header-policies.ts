import type { AstroIntegration } from 'astro';
import { allowSources, type Sources } from './allow-sources.ts';

/** The headers that an adapter will send with each page; changed in place, because the adapter holds on to them. */
export type RouteToHeaders = Parameters<
  NonNullable<AstroIntegration['hooks']['astro:build:generated']>
>[0]['routeToHeaders'];

const header = 'content-security-policy';

/**
 * The policies that pages get as a header, by the name of the page's file.
 *
 * @param base of the site, with which routes may begin.
 */
export class HeaderPolicies {
  readonly #headers = new Map<string, Headers>();

  constructor(routes: RouteToHeaders, base: string) {
    for (const [pathname, { headers }] of routes) {
      if (!headers.has(header)) continue;
      for (const name of filesOf(pathname, base)) this.#headers.set(name, headers);
    }
  }

  allow(page: string, sources: Sources): void {
    const headers = this.#headers.get(page);
    const policy = headers?.get(header);
    if (headers !== undefined && policy != null) headers.set(header, allowSources(policy, sources));
  }
}

/** Where Astro may have written the page of a route, whatever the site's `build.format` is. */
function filesOf(pathname: string, base: string): string[] {
  const root = base.replace(/\/+$/, '');
  const inside = root !== '' && pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : pathname;
  const name = decodeURI(inside)
    .replace(/^\/+|\/+$/g, '')
    .replace(/(^|\/)index\.html$/, '');
  if (name === '') return ['index.html'];
  return name.endsWith('.html') ? [name] : [`${name}/index.html`, `${name}.html`];
}
