/** What decides how the URLs of a site are written. */
export interface SiteUrls {
  /** The site's base path. */
  base: string;
  trailingSlash: 'always' | 'never' | 'ignore';
  /** Whether pages are folders, `about/index.html`, or files, `about.html`. */
  format: 'directory' | 'file' | 'preserve';
}

/**
 * The one form of the path of a file, whether it is the path of a request or of a built file: `/docs/about/` for
 * `/docs/about`, `/docs/about/index.html` and `/docs/about.html`. Percent-encoded.
 *
 * @param isPage whether the file is HTML. The path of any other stays as it is.
 */
export function canonicalPath(path: string, isPage: boolean, { trailingSlash, format }: SiteUrls): string {
  if (!isPage) return path;
  const bare = path.replace(/(^|\/)index\.html$|\.html$/, '').replace(/\/+$/, '');
  const isFolder = trailingSlash === 'always' || (trailingSlash === 'ignore' && format !== 'file');
  return isFolder || bare === '' ? `${bare}/` : bare;
}

/** The path of the URL of a file of the output, in its one form. */
export function pathOfFile(name: string, isPage: boolean, urls: SiteUrls): string {
  return canonicalPath(`${urls.base.replace(/\/+$/, '')}/${encodeURI(name)}`, isPage, urls);
}
