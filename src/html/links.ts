import type { SiteUrls } from '../settings/site-urls.ts';
import { editTags, replaceUrls } from './attributes.ts';

/** What a site does to the links of a snippet. */
export type LinkRules = Pick<SiteUrls, 'base' | 'trailingSlash'>;

const urlAttributes = new Set(['href', 'src', 'srcset', 'action', 'poster']);
// Their links lead to pages, whose paths may need a slash at the end. The others are files.
const pageElements = new Set(['a', 'area', 'form']);
// All of them, so that other slashes take no quadratic time.
const slashesAtEnd = /(?<!\/)\/+$/;

/**
 * Puts the site's base in front of root-relative URLs in `href`, `src`, `srcset`, `action` and `poster`, unless they begin
 * with it, and ends paths of pages as the site does. Every other byte stays.
 */
export function adaptLinks(html: string, rules: LinkRules): string {
  return editTags(html, (tag, attributes) =>
    attributes
      .filter(({ name }) => urlAttributes.has(name))
      .flatMap((one) => replaceUrls(one, (url) => adaptLink(url, pageElements.has(tag.name), rules))),
  );
}

function adaptLink(url: string, isPage: boolean, { base, trailingSlash }: LinkRules): string {
  // Browsers ignore white space around a URL, and line breaks and tabs in it.
  const before = /^[\0-\x20]*/.exec(url)?.[0] ?? '';
  const trimmed = url.slice(before.length).trimEnd();
  if (!/^\/(?![\t\n\r]*[/\\])/.test(trimmed)) return url;
  const after = url.slice(before.length + trimmed.length);
  const root = base.replace(slashesAtEnd, '');
  const hasBase = trimmed.startsWith(root) && /^(?:$|[/?#])/.test(trimmed.slice(root.length));
  const based = hasBase ? trimmed : root + trimmed;
  const end = based.search(/[?#]|$/);
  const path = based.slice(0, end);
  return before + (isPage ? endPath(path, trailingSlash) : path) + based.slice(end) + after;
}

function endPath(path: string, trailingSlash: LinkRules['trailingSlash']): string {
  if (trailingSlash === 'never') return path.replace(slashesAtEnd, '') || '/';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isFile = name === '' || name.includes('.');
  return trailingSlash === 'ignore' || isFile ? path : `${path}/`;
}
