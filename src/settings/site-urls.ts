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

/** The names of the files that Astro may write for a route, for every `build.format`. */
export function routeFiles(pathname: string, base: string): string[] {
  const root = base.replace(/\/+$/, '');
  const inside = pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : pathname;
  const decoded = decodePath(inside);
  // For `/tags/100%/`, Astro 5 decodes `%25` in the page's URL, but not in its file name, so both are tried.
  const undecoded = decoded === inside ? inside.replaceAll('%', '%25') : inside;
  return [...new Set([decoded, undecoded])].flatMap((path) => {
    const name = path.replace(/^\/+|\/+$/g, '').replace(/(^|\/)index\.html$/, '');
    if (name === '') return ['index.html'];
    return name.endsWith('.html') ? [name] : [`${name}/index.html`, `${name}.html`];
  });
}

/** Decodes a path. A path that cannot be decoded stays as it is. */
export function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
