import type { HtmlRules } from '../settings/options.ts';
import { editTags, replaceUrls } from './attributes.ts';

export type LinkRules = NonNullable<HtmlRules['links']>;

const urlAttributes = new Set(['href', 'src', 'srcset', 'action', 'poster']);

// They lead to pages, others to files.
const pageElements = new Set(['a', 'area', 'form']);

// All of them, so that the time stays linear.
const slashesAtEnd = /(?<!\/)\/+$/;

/** Puts the base before root-relative URLs, and ends paths of pages as the site does. */
export const adaptLinks = (html: string, rules: LinkRules): string =>
  editTags(html, (tag, attributes) => {
    const adapt = (url: string) => adaptLink(url, pageElements.has(tag.name), rules);
    return attributes.flatMap((one) => (urlAttributes.has(one.name) ? replaceUrls(one, adapt) : []));
  });

function adaptLink(url: string, isPage: boolean, { base, trailingSlash }: LinkRules) {
  // As browsers do. They ignore line breaks and tabs in it, too.
  const trimmed = url.trim();
  if (!/^\/(?![\t\n\r]*[/\\])/.test(trimmed)) return url;
  const [path = ''] = trimmed.split(/[?#]/, 1);
  const root = base.replace(slashesAtEnd, '');
  const based = path === root || path.startsWith(`${root}/`) ? path : root + path;
  return url.replace(path, () => (isPage ? endPath(based, trailingSlash) : based));
}

function endPath(path: string, trailingSlash: LinkRules['trailingSlash']) {
  if (trailingSlash === 'never') return path.replace(slashesAtEnd, '') || '/';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isFile = name === '' || name.includes('.');
  return trailingSlash === 'ignore' || isFile ? path : `${path}/`;
}
