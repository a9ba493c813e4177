import { decodeHTMLAttribute } from 'entities/decode';
import { cleanText } from '../client/text.ts';
import {
  type Attribute,
  applyEdits,
  attributesOf,
  type Edit,
  readAttribute,
  replaceValue,
  startTags,
} from '../embed/html-scanner.ts';
import type { SiteUrls } from '../settings/site-urls.ts';

export type LinkRules = Pick<SiteUrls, 'base' | 'trailingSlash'>;

const urlAttributes = new Set(['href', 'src', 'srcset', 'action', 'poster']);
// They lead to pages, whose paths may need a slash at the end. Others lead to files.
const pageElements = new Set(['a', 'area', 'form']);
// All of them, so that the time stays linear.
const slashesAtEnd = /(?<!\/)\/+$/;

/** Puts the site's base before root-relative URLs that lack it, and ends paths of pages as the site does. */
export function adaptLinks(html: string, rules: LinkRules): string {
  return editTags(html, (tag, attributes) =>
    attributes
      .filter(({ name }) => urlAttributes.has(name))
      .flatMap((one) => replaceUrls(one, (url) => adaptLink(url, pageElements.has(tag.name), rules))),
  );
}

function adaptLink(url: string, isPage: boolean, { base, trailingSlash }: LinkRules): string {
  // As browsers do. They ignore line breaks and tabs in it, too.
  const trimmed = url.trim();
  if (!/^\/(?![\t\n\r]*[/\\])/.test(trimmed)) return url;
  const [path = ''] = trimmed.split(/[?#]/, 1);
  const root = base.replace(slashesAtEnd, '');
  const based = path === root || path.startsWith(`${root}/`) ? path : root + path;
  return url.replace(path, () => (isPage ? endPath(based, trailingSlash) : based));
}

function endPath(path: string, trailingSlash: LinkRules['trailingSlash']): string {
  if (trailingSlash === 'never') return path.replace(slashesAtEnd, '') || '/';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isFile = name === '' || name.includes('.');
  return trailingSlash === 'ignore' || isFile ? path : `${path}/`;
}

export interface ImageCopy {
  /** In the folder of assets. */
  file: string;
  /** As a page writes it. */
  href: string;
  /** In pixels, as a browser shows it. */
  width: number;
  height: number;
}

/** A flaw is why there is no copy, or an old one: the end of a sentence. */
export type FoundImage = { copy?: ImageCopy | undefined; flaw?: string | undefined };

export type ImageUse = FoundImage & { url: string };

/** Finds an image. `undefined` if the site does not serve it. */
export type FindImage = (url: URL) => Promise<FoundImage | undefined>;

/** Puts the site's copies of images into HTML. Flaws are why images stay where they are: sentences without a subject. */
export async function localizeImages(html: string, find: FindImage | undefined) {
  if (find === undefined) return { html, images: [], flaws: [] };
  const found = new Map<string, FoundImage | undefined>();
  replaceImages(html, (url) => void found.set(url, undefined));
  await Promise.all([...found.keys()].map(async (url) => found.set(url, await find(new URL(url)))));
  const images = [...found].flatMap(([url, image]): ImageUse[] => (image ? [{ url, ...image }] : []));
  const flaws = images.flatMap(({ url, copy, flaw }) => {
    const from = copy ? 'as it was last downloaded' : 'from its own host';
    return flaw === undefined ? [] : `shows ${cleanText(url)} ${from}: ${flaw}.`;
  });
  return { html: replaceImages(html, (url) => found.get(url)), images, flaws };
}

function replaceImages(html: string, find: (url: string) => FoundImage | undefined): string {
  return editTags(html, ({ name, start, parent }, attributes) => {
    const isSource = name === 'source' && parent === 'picture';
    // Browsers take <image> for <img>.
    if (!isSource && name !== 'img' && name !== 'image') return [];
    const shown: (ImageCopy | undefined)[] = [];
    const hrefOf = (url: string) => {
      // Without its fragment. No option can name this host.
      const whole = URL.parse(url, 'https://relative.invalid/')?.href.replace(/#.*/, '');
      const copy = whole === undefined ? undefined : find(whole)?.copy;
      shown.push(copy);
      return copy?.href ?? url;
    };
    // On a <source>, `src` means nothing.
    const edits = (isSource ? ['srcset'] : ['src', 'srcset']).flatMap((wanted) => {
      const attribute = attributes.find((one) => one.name === wanted);
      return attribute ? replaceUrls(attribute, hrefOf) : [];
    });
    // At the end of the tag, a slash may belong to a value.
    const at = start + 1 + name.length;
    if (shown[0]) edits.push({ start: at, end: at, text: newAttributes(shown[0], isSource, attributes) });
    return edits;
  });
}

function newAttributes({ width, height }: ImageCopy, isSource: boolean, attributes: readonly Attribute[]) {
  const given = (name: string) => readAttribute(attributes, name);
  const isFree = given('width') === undefined && given('height') === undefined;
  const scaled = (length = '', by: number, of: number) =>
    /^[1-9]\d*$/.test(length) ? Math.max(1, Math.round((Number(length) * by) / of)) : undefined;
  const isUrgent = given('fetchpriority')?.toLowerCase() === 'high';
  const wanted = {
    width: isFree ? width : scaled(given('height'), width, height),
    height: isFree ? height : scaled(given('width'), height, width),
    loading: isSource || isUrgent ? undefined : 'lazy',
    decoding: isSource ? undefined : 'async',
  };
  const missing = Object.entries(wanted).filter(([name, value]) => value && given(name) === undefined);
  return missing.map(([name, value]) => ` ${name}="${value}"`).join('');
}

/** Also in `<noscript>` and `<template>`, which a browser may show. Every other byte stays. */
function editTags(
  html: string,
  editsOf: (tag: ReturnType<typeof startTags>[number], attributes: readonly Attribute[]) => readonly Edit[],
): string {
  const edits = startTags(html).flatMap((tag) => editsOf(tag, attributesOf(html, tag)));
  return applyEdits(html, edits);
}

// As browsers split it: a URL up to white space, and descriptors up to a comma outside of parentheses.
const candidate =
  /([^\t\n\f\r ,](?:[^\t\n\f\r ]*[^\t\n\f\r ,])?)(,+(?=[\t\n\f\r ]|$)|(?:[^,(]+|\([^)]*\)?)*)/g;

export function replaceCandidates(srcset: string, replacement: (url: string) => string): string {
  return srcset.replace(candidate, (_, url: string, rest: string) => replacement(url) + rest);
}

function replaceUrls(attribute: Attribute, replacement: (url: string) => string): Edit[] {
  const value = decodeHTMLAttribute(attribute.value);
  const changed = attribute.name === 'srcset' ? replaceCandidates(value, replacement) : replacement(value);
  return changed === value ? [] : [replaceValue(attribute, changed)];
}
