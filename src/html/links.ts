import { type Attribute, attributesOf, walk } from '../embed/html-scanner.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import { applyEdits, attributeValue, type Edit, replaceCandidates, replaceValue } from './edits.ts';

/** What a site does to the links of a snippet. */
export type LinkRules = Pick<SiteUrls, 'base' | 'trailingSlash'>;

const urlAttributes = new Set(['href', 'src', 'action', 'poster']);
// Their links lead to pages, whose paths may need a slash at the end. The others are files.
const pageElements = new Set(['a', 'area', 'form']);

/**
 * Puts the site's base in front of root-relative URLs in `href`, `src`, `srcset`, `action` and `poster`, unless they begin
 * with it, and ends paths of pages as the site does. Every other byte stays.
 */
export function adaptLinks(html: string, rules: LinkRules): string {
  const edits: Edit[] = [];
  const adapt = (attribute: Attribute, isPage: boolean) => {
    const value = attributeValue(html, attribute);
    const link = (url: string) => adaptLink(url, isPage, rules);
    const changed = attribute.name === 'srcset' ? replaceCandidates(value, link) : link(value);
    if (changed !== value) edits.push(replaceValue(attribute, changed));
  };
  walk(html, null, {
    open(tag, context) {
      for (const attribute of attributesOf(html, tag)) {
        const { name } = attribute;
        if (name === 'srcset' || urlAttributes.has(name)) adapt(attribute, pageElements.has(tag.name));
      }
      return context;
    },
  });
  return applyEdits(html, edits);
}

function adaptLink(url: string, isPage: boolean, { base, trailingSlash }: LinkRules): string {
  // Browsers ignore white space around a URL, and line breaks and tabs in it.
  const before = /^[\0-\x20]*/.exec(url)?.[0] ?? '';
  const trimmed = url.slice(before.length).trimEnd();
  if (!/^\/(?![\t\n\r]*[/\\])/.test(trimmed)) return url;
  const after = url.slice(before.length + trimmed.length);
  const root = withoutSlashes(base);
  const hasBase = trimmed.startsWith(root) && /^(?:$|[/?#])/.test(trimmed.slice(root.length));
  const based = hasBase ? trimmed : root + trimmed;
  const end = based.search(/[?#]|$/);
  const path = based.slice(0, end);
  return before + (isPage ? endPath(path, trailingSlash) : path) + based.slice(end) + after;
}

function endPath(path: string, trailingSlash: LinkRules['trailingSlash']): string {
  if (trailingSlash === 'never') return withoutSlashes(path) || '/';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isFile = name === '' || name.includes('.');
  return trailingSlash === 'ignore' || isFile ? path : `${path}/`;
}

/** Not by a pattern, which would take quadratic time. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path.charAt(end - 1) === '/') end -= 1;
  return path.slice(0, end);
}
