/** The options of Astro's config that decide on the URLs of a site. */
export interface SiteUrls {
  /** Astro's option `site`, such as `https://example.com`, if it is set. */
  site?: string | undefined;
  /** The path before all URLs, such as `/docs`. */
  base: string;
  trailingSlash: 'always' | 'never' | 'ignore';
  /** Whether pages are folders, `about/index.html`, or files, `about.html`. */
  format: 'directory' | 'file' | 'preserve';
}

/**
 * Gives all paths of a page one form, such as `/docs/about/` for `/docs/about`, `/docs/about/index.html`
 * and `/docs/about.html`. Paths are percent-encoded. The path of a file that is no page stays as it is.
 */
export function canonicalPath(
  path: string,
  isPage: boolean,
  { trailingSlash, format }: Omit<SiteUrls, 'base'>,
): string {
  if (!isPage) return path;
  const bare = path.replace(/(^|\/)index\.html$|\.html$/, '').replace(/\/+$/, '');
  const isFolder = trailingSlash === 'always' || (trailingSlash === 'ignore' && format !== 'file');
  return isFolder || bare === '' ? `${bare}/` : bare;
}

/** The canonical path (see `canonicalPath`) under which an output file is served. */
export const pathOfFile = (name: string, isPage: boolean, urls: SiteUrls): string =>
  canonicalPath(pathIn(urls.base, name), isPage, urls);

/**
 * The percent-encoded URL of an output file, absolute if the site's URL is known. Without `urls`, another
 * generator wrote the files, so a page's URL keeps the name of its file, except `index.html`.
 */
export function publishedUrl(name: string, isPage: boolean, urls?: Omit<SiteUrls, 'format'>): string {
  const { site, base = '/', trailingSlash } = urls ?? {};
  const path = pathIn(base, name);
  // Purging a CDN needs the URL that readers use. With 'ignore', the file's name decides on its slash.
  const format = path.endsWith('/index.html') ? 'directory' : 'file';
  const hasCanonicalPath = isPage && (trailingSlash !== undefined || format === 'directory');
  const url = canonicalPath(path, hasCanonicalPath, { trailingSlash: trailingSlash ?? 'ignore', format });
  return URL.parse(url, site)?.href ?? url;
}

/** The percent-encoded path of a file below `base`. `?` and `#` are encoded, too: they would end it. */
function pathIn(base: string, name: string): string {
  const path = encodeURI(name.toWellFormed()).replace(/[?#]/g, encodeURIComponent);
  return `${base.replace(/\/+$/, '')}/${path}`;
}

/** The part of a path below the site's base: `/about/` of `/docs/about/`. A path outside of it stays as it is. */
export function pathBelow(base: string, path: string): string {
  const root = base.replace(/\/+$/, '');
  if (path === root) return '/';
  return path.startsWith(`${root}/`) ? path.slice(root.length) : path;
}

/** Decodes a path. What cannot be decoded stays as it is, like the `%` of `100%`. */
export const decodePath = (path: string): string => path.replace(/(?:%[0-9a-f]{2})+/gi, decodeEscapes);

function decodeEscapes(escapes: string) {
  try {
    return decodeURI(escapes);
  } catch {
    return escapes;
  }
}
