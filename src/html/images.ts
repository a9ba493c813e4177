import { escapeAttribute } from 'entities/escape';
import { cleanText } from '../client/clean-text.ts';
import { type Element, elementsOf, parse } from './parsed-html.ts';
import { applyEdits, candidatesIn, type Edit, replaceCandidates } from './srcset.ts';

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
  const elements = [...elementsOf(parse(html), { templates: true })].filter(isImage);
  // All at once, then each again in order: what was found is remembered.
  await Promise.all(elements.flatMap((element) => urlsOf(element).map((url) => find(url))));
  const edits: Edit[] = [];
  for (const element of elements) edits.push(...(await editsOf(element, html, lookUp)));
  return { html: applyEdits(html, edits), images: [...images.values()], flaws: [...flaws] };
}

function isImage({ tagName, parentNode, sourceCodeLocation }: Element): boolean {
  if (sourceCodeLocation == null) return false;
  const parent = parentNode !== null && 'tagName' in parentNode ? parentNode.tagName : undefined;
  return tagName === 'img' || (tagName === 'source' && parent === 'picture');
}

function urlOf(written: string): URL | undefined {
  if (!URL.canParse(written, nowhere)) return undefined;
  const url = new URL(written, nowhere);
  url.hash = '';
  return url;
}

function urlsOf(element: Element): URL[] {
  const { src, srcset } = valuesOf(element);
  const written = [...(src === undefined ? [] : [src]), ...candidatesIn(srcset).map(({ url }) => url)];
  return written.flatMap((one) => urlOf(one) ?? []);
}

/** The attributes that name images. `src` means nothing on `<source>`. */
function valuesOf(element: Element): { src: string | undefined; srcset: string } {
  const src = element.tagName === 'img' ? attributeOf(element, 'src') : undefined;
  return { src, srcset: attributeOf(element, 'srcset') ?? '' };
}

function attributeOf({ attrs }: Element, wanted: string): string | undefined {
  return attrs.find(({ name }) => name === wanted)?.value;
}

async function editsOf(
  element: Element,
  html: string,
  lookUp: (written: string) => Promise<LocalImage | undefined>,
): Promise<Edit[]> {
  const place = element.sourceCodeLocation;
  const { src, srcset } = valuesOf(element);
  const edits: Edit[] = [];
  const write = (name: string, value: string) => {
    const at = place?.attrs?.[name];
    if (at === undefined) return;
    edits.push({ start: at.startOffset, end: at.endOffset, text: `${name}="${escapeAttribute(value)}"` });
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
  if (measured === undefined || place == null) return edits;
  const added = newAttributes(element, measured)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
  // Behind the name of the tag: at its end, a slash may belong to a value without quotes.
  const [start = ''] = /^<[^\s/>]+/.exec(html.slice(place.startOffset, place.startOffset + 20)) ?? [];
  const at = place.startOffset + start.length;
  return added === '' ? edits : [{ start: at, end: at, text: added }, ...edits];
}

function newAttributes(element: Element, { width, height }: LocalImage): [string, string | number][] {
  const added: [string, string | number][] = [];
  const given = { width: attributeOf(element, 'width'), height: attributeOf(element, 'height') };
  if (given.width === undefined && given.height === undefined) {
    added.push(['width', width], ['height', height]);
  } else if (given.height === undefined && /^[1-9]\d*$/.test(given.width ?? '')) {
    added.push(['height', Math.max(1, Math.round((Number(given.width) * height) / width))]);
  } else if (given.width === undefined && /^[1-9]\d*$/.test(given.height ?? '')) {
    added.push(['width', Math.max(1, Math.round((Number(given.height) * width) / height))]);
  }
  if (element.tagName !== 'img') return added;
  if (attributeOf(element, 'loading') === undefined) added.push(['loading', 'lazy']);
  if (attributeOf(element, 'decoding') === undefined) added.push(['decoding', 'async']);
  return added;
}
