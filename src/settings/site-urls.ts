/** How Astro's config forms the URLs of a site. */
export interface SiteUrls {
  /** The origin, such as `https://example.com`, if it is known. */
  site?: string | undefined;
  /** The path before all URLs, such as `/docs`. */
  base: string;
  trailingSlash: 'always' | 'never' | 'ignore';
  /** Whether pages are folders, `about/index.html`, or files, `about.html`. */
  format: 'directory' | 'file' | 'preserve';
}

/**
 * The one form of the path of a request or a file: `/docs/about/` for `/docs/about`, `/docs/about/index.html`
 * and `/docs/about.html`. Percent-encoded. The path of a file that is no page stays as it is.
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

/** The canonical path of a file of the output. */
export const pathOfFile = (name: string, isPage: boolean, urls: SiteUrls): string =>
  canonicalPath(pathIn(urls.base, name), isPage, urls);

/**
 * The URL of an output file, absolute if the site's is known, and percent-encoded. Without `urls`, Astro did
 * not write the files, and a page is known by the name of its file.
 */
export function publishedUrl(name: string, isPage: boolean, urls?: Omit<SiteUrls, 'format'>): string {
  const { site, base = '/', trailingSlash } = urls ?? {};
  const path = pathIn(base, name);
  // A purge by URL needs the form that readers ask for. With 'ignore', the file that exists decides on it.
  const format = path.endsWith('/index.html') ? 'directory' : 'file';
  const hasCanonicalPath = isPage && (trailingSlash !== undefined || format === 'directory');
  const url = canonicalPath(path, hasCanonicalPath, { trailingSlash: trailingSlash ?? 'ignore', format });
  return URL.parse(url, site)?.href ?? url;
}

/** The percent-encoded path of a file. `?` and `#` are encoded, too: they would end the path. */
function pathIn(base: string, name: string): string {
  const path = encodeURI(name.toWellFormed()).replace(/[?#]/g, encodeURIComponent);
  return `${base.replace(/\/+$/, '')}/${path}`;
}

/** The names of the files that Astro may write for a route, for every `build.format`. */
export function routeFiles(pathname: string, base: string): string[] {
  const root = base.replace(/\/+$/, '');
  const inside = pathname.startsWith(`${root}/`) ? pathname.slice(root.length) : pathname;
  const decoded = decodePath(inside);
  // Astro 5 decodes `%25` for the URL of a page, and not for its file, such as that of `/tags/100%/`.
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
