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
  editTags(html, (tag, attributes) => {
    const isPage = (name: string) => pageElements.has(tag.name) || name === 'formaction';
    return attributes
      .filter(({ name }) => urlSyntaxOf(tag.name, name, () => false) !== undefined)
      .flatMap((attribute) => replaceUrls(attribute, (url) => adaptLink(url, isPage(attribute.name), rules)));
  });

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

function endPath(path: string, trailingSlash: LinkRules['trailingSlash']) {
  if (trailingSlash === 'never') return path.replace(slashesAtEnd, '') || '/';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isFile = name === '' || name.includes('.');
  return trailingSlash === 'ignore' || isFile ? path : `${path}/`;
}
