import { urlSyntaxOf } from '../embed/syntax.ts';
import type { HtmlRules } from '../settings/options.ts';
import { editTags, replaceUrls } from './attributes.ts';

export type LinkRules = NonNullable<HtmlRules['links']>;

/** Elements whose URLs lead to pages. The URLs of others load files, which have no slash at the end. */
const pageElements = new Set(['a', 'area', 'form']);

/** All slashes at the end. Without the lookbehind, a run before the end would take quadratic time. */
const slashesAtEnd = /(?<!\/)\/+$/;

/**
 * A URL that is relative to the root of its host, such as `/about`. A second slash or backslash would begin a
 * host (`//cdn.test`), also behind tabs and line breaks, which browsers ignore.
 */
const rootRelativeUrl = /^\/(?![\t\n\r]*[/\\])/;

/** Puts the base path before root-relative URLs in HTML, and ends the paths of pages as the site does. */
export const adaptLinks = (html: string, rules: LinkRules): string =>
  editUrls(html, (url, isPage) => adaptLink(url, isPage, rules));

/** Replaces the URLs in HTML. @param replacement gets a URL, and whether it leads to a page */
function editUrls(html: string, replacement: (url: string, isPage: boolean) => string): string {
  return editTags(html, (tag, attributes) =>
    attributes
      .filter(({ name }) => urlSyntaxOf(tag.name, name, () => false) !== undefined)
      .flatMap((attribute) => {
        const isPage = pageElements.has(tag.name) || attribute.name === 'formaction';
        return replaceUrls(attribute, (url) => replacement(url, isPage));
      }),
  );
}

/** Adapts one URL. @param isPage whether it leads to a page */
export function adaptLink(url: string, isPage: boolean, { base, trailingSlash }: LinkRules): string {
  // Browsers ignore white space around a URL.
  const trimmed = url.trim();
  if (!rootRelativeUrl.test(trimmed)) return url;

  const [path = ''] = trimmed.split(/[?#]/, 1);
  const root = base.replace(slashesAtEnd, '');
  const hasBase = path === root || path.startsWith(`${root}/`);
  const basedPath = hasBase ? path : root + path;
  const adapted = isPage ? endPath(basedPath, trailingSlash) : basedPath;
  // A function, since `$` has a meaning in a replacement that is a string.
  return url.replace(path, () => adapted);
}

/**
 * Makes URLs in HTML absolute that begin with a slash: a reader of feeds shows the HTML on another host. URLs that
 * depend on the page, such as `#prices`, stay.
 *
 * @param site the URL of the site
 */
export const absoluteLinks = (html: string, site: string): string =>
  editUrls(html, (url) => absoluteUrl(url, site));

/** A URL that begins with a slash. Browsers ignore control characters and spaces before it, and take `\` for `/`. */
const urlWithSlash = /^[\0-\x20]*[/\\]/;

/** Makes a URL absolute if it begins with a slash. @param site the URL of the site */
export const absoluteUrl = (url: string, site: string): string =>
  urlWithSlash.test(url) ? (URL.parse(url, site)?.href ?? url) : url;

function endPath(path: string, trailingSlash: LinkRules['trailingSlash']) {
  if (trailingSlash === 'never') return path.replace(slashesAtEnd, '') || '/';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isFile = name === '' || name.includes('.');
  return trailingSlash === 'ignore' || isFile ? path : `${path}/`;
}
