import { cleanText } from '../client/clean-text.ts';
import { type Attribute, attributesOf, walk } from '../embed/html-scanner.ts';
import { applyEdits, attributeValue, type Edit, replaceValue } from './edits.ts';
import { candidatesIn, replaceCandidates } from './srcset.ts';

/** An image that the site serves itself. */
export interface LocalImage {
  /** Its URL, as a page writes it. */
  href: string;
  /** In CSS pixels, as a browser shows it. */
  width: number;
  height: number;
  /** Its name in the folder of assets. */
  file: string;
  /** Why it may be out of date, as the end of a sentence. */
  stale?: string | undefined;
}

/**
 * Finds the site's own copy of an image.
 *
 * @returns why there is none, as the end of a sentence; `undefined` if the image stays where it is.
 */
export type FindImage = (url: URL) => Promise<LocalImage | { flaw: string } | undefined>;

/** An image that HTML shows, and the site's own copy if there is one. */
export interface ImageUse {
  /** Its URL, whole. */
  url: string;
  /** The copy's name in the folder of assets, and its size. */
  file?: string | undefined;
  width?: number | undefined;
  height?: number | undefined;
}

export interface HtmlWithImages {
  html: string;
  /** Each once, in the order of the HTML. */
  images: ImageUse[];
  /** Why images stay where they are: a sentence each, without its subject. */
  flaws: string[];
}

// A URL without a host gets this one, which no option can name.
const nowhere = 'https://relative.invalid/';

/**
 * Puts the site's own copies of images into HTML: in `src` and `srcset` of `<img>` and of `<source>` in `<picture>`. These
 * elements get `width`, `height`, `loading` and `decoding`, unless they have them. Every other byte stays.
 */
export async function localizeImages(html: string, find: FindImage): Promise<HtmlWithImages> {
  const images = new Map<string, ImageUse>();
  const flaws = new Set<string>();
  if (!/<(?:img|image|source)\b/i.test(html)) return { html, images: [], flaws: [] };
  const lookUp = async (written: string): Promise<LocalImage | undefined> => {
    const url = urlOf(written);
    const found = url && (await find(url));
    if (url === undefined || found === undefined) return undefined;
    if ('flaw' in found) {
      images.set(url.href, { url: url.href });
      flaws.add(`shows ${cleanText(url.href)} from its own host: ${found.flaw}.`);
      return undefined;
    }
    const { file, width, height, stale } = found;
    if (stale !== undefined) flaws.add(`shows ${cleanText(url.href)} as it was last downloaded: ${stale}.`);
    images.set(url.href, { url: url.href, file, width, height });
    return found;
  };
  const elements = imagesIn(html);
  // All at once, then each again in order: what was found is remembered.
  await Promise.all(elements.flatMap((element) => urlsOf(element).map((url) => find(url))));
  const edits: Edit[] = [];
  for (const element of elements) edits.push(...(await editsOf(element, lookUp)));
  return { html: applyEdits(html, edits), images: [...images.values()], flaws: [...flaws] };
}

/** An element that shows an image: `<img>`, or a `<source>` of a `<picture>`. */
interface ImageElement {
  isSource: boolean;
  /** Where its name ends. */
  nameEnd: number;
  /** With their values decoded. */
  attributes: ReadonlyMap<string, Attribute & { value: string }>;
}

/** Those in `<noscript>` and `<template>`, too: a browser may show them. */
function imagesIn(html: string): ImageElement[] {
  const found: ImageElement[] = [];
  walk(html, '', {
    open(tag, parent) {
      const { name, start } = tag;
      const isSource = name === 'source' && parent === 'picture';
      // Browsers take <image> for <img>.
      if (isSource || name === 'img' || name === 'image') {
        const attributes = new Map<string, Attribute & { value: string }>();
        for (const attribute of attributesOf(html, tag)) {
          if (attributes.has(attribute.name)) continue;
          attributes.set(attribute.name, { ...attribute, value: attributeValue(html, attribute) });
        }
        found.push({ isSource, nameEnd: start + 1 + name.length, attributes });
      }
      return name;
    },
  });
  return found;
}

function urlOf(written: string): URL | undefined {
  if (!URL.canParse(written, nowhere)) return undefined;
  const url = new URL(written, nowhere);
  url.hash = '';
  return url;
}

function urlsOf(element: ImageElement): URL[] {
  const { src, srcset } = valuesOf(element);
  const written = [...(src === undefined ? [] : [src]), ...candidatesIn(srcset).map(({ url }) => url)];
  return written.flatMap((one) => urlOf(one) ?? []);
}

/** The attributes that name images. `src` means nothing on `<source>`. */
function valuesOf({ isSource, attributes }: ImageElement): { src: string | undefined; srcset: string } {
  const src = isSource ? undefined : attributes.get('src')?.value;
  return { src, srcset: attributes.get('srcset')?.value ?? '' };
}

async function editsOf(
  element: ImageElement,
  lookUp: (written: string) => Promise<LocalImage | undefined>,
): Promise<Edit[]> {
  const { src, srcset } = valuesOf(element);
  const edits: Edit[] = [];
  const write = (name: string, value: string) => {
    const attribute = element.attributes.get(name);
    if (attribute !== undefined) edits.push(replaceValue(attribute, value));
  };
  const shown = src === undefined ? undefined : await lookUp(src);
  if (shown !== undefined) write('src', shown.href);
  const found = await Promise.all(candidatesIn(srcset).map(({ url }) => lookUp(url)));
  if (found.some((image) => image !== undefined)) {
    write(
      'srcset',
      replaceCandidates(srcset, (url, index) => found[index]?.href ?? url),
    );
  }
  const measured = shown ?? (src === undefined ? found[0] : undefined);
  if (measured === undefined) return edits;
  const added = newAttributes(element, measured)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
  // At the end of the tag, a slash may belong to a value without quotes.
  const { nameEnd } = element;
  return added === '' ? edits : [{ start: nameEnd, end: nameEnd, text: added }, ...edits];
}

function newAttributes(
  { isSource, attributes }: ImageElement,
  { width, height }: LocalImage,
): [string, string | number][] {
  const added: [string, string | number][] = [];
  const given = { width: attributes.get('width')?.value, height: attributes.get('height')?.value };
  if (given.width === undefined && given.height === undefined) {
    added.push(['width', width], ['height', height]);
  } else if (given.height === undefined && /^[1-9]\d*$/.test(given.width ?? '')) {
    added.push(['height', Math.max(1, Math.round((Number(given.width) * height) / width))]);
  } else if (given.width === undefined && /^[1-9]\d*$/.test(given.height ?? '')) {
    added.push(['width', Math.max(1, Math.round((Number(given.height) * width) / height))]);
  }
  if (isSource) return added;
  const isUrgent = attributes.get('fetchpriority')?.value.toLowerCase() === 'high';
  if (!isUrgent && !attributes.has('loading')) added.push(['loading', 'lazy']);
  if (!attributes.has('decoding')) added.push(['decoding', 'async']);
  return added;
}
