import { decodePath, pathBelow, type SiteUrls } from './site-urls.ts';

/** Pages that Astro writes as `404.html` and `500.html`, unless their paths are computed or end with a slash. */
const statusPage = /^(?:404|500)$/;

/** The names that each `build.format` of Astro gives to the file of a page. */
const pageFiles: Record<SiteUrls['format'], (name: string) => string[]> = {
  directory: (name) => [`${name}/index.html`, ...(statusPage.test(name) ? [`${name}.html`] : [])],
  file: (name) => [`${name}.html`],
  // Only Astro knows whether the source of a page is named `index`.
  preserve: (name) => [`${name}/index.html`, `${name}.html`],
};

/** The path of a file or page without the slashes around it. */
const nameOf = (path: string) => path.replace(/^\/+|(?<!\/)\/+$/g, '');

/**
 * The files that Astro may write for a page. With `preserve`, there are two.
 *
 * @param path The page's path as Astro's routes have it: below the site's base, and decoded.
 */
function filesOfPage(path: string, format: SiteUrls['format']): string[] {
  const name = nameOf(path);
  return name === '' ? ['index.html'] : pageFiles[format](name);
}

/** A path that Astro has rendered, and the type of its route. */
export interface RenderedRoute {
  /** As Astro's routes have it: below the site's base, and decoded. */
  path: string;
  type: 'page' | 'endpoint' | 'redirect' | 'fallback';
}

/** The files that Astro may write for a route. */
export const routeFiles = ({ path, type }: RenderedRoute, format: SiteUrls['format']): string[] =>
  type === 'endpoint' ? [nameOf(path)] : filesOfPage(path, format);

/**
 * The files that may be what is served at the path of a URL, of a page or of an endpoint.
 *
 * @param urls The format `preserve` stands for any, where another generator wrote the files.
 */
export function filesAt(pathname: string, { base, format }: Pick<SiteUrls, 'base' | 'format'>): string[] {
  const path = pathBelow(base, pathname);
  const decoded = decodePath(path);
  // For `/tags/100%/`, Astro 5 decodes `%25` in the page's URL, but not in its file name, so both are tried.
  const undecoded = decoded === path ? path.replaceAll('%', '%25') : path;
  const names = [...new Set([decoded, undecoded])].flatMap((each) => [
    nameOf(each),
    ...filesOfPage(each, format),
  ]);
  return [...new Set(names)].filter((name) => name !== '');
}
