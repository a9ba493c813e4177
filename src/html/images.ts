import { cleanText } from '../client/clean-text.ts';
import type { Attribute } from '../embed/html-scanner.ts';
import { attributeIn, editTags, replaceUrls } from './attributes.ts';

/** The site's own copy of an image: its name in the folder of assets, and its size in pixels, as a browser shows it. */
export interface ImageFile {
  file: string;
  width: number;
  height: number;
}

/** An image that HTML shows, by its whole URL, with the site's copy if there is one. */
export type ImageUse = { url: string } & { [Name in keyof ImageFile]?: ImageFile[Name] | undefined };

/** The site's own copy of an image, with its URL as a page writes it. */
export type LocalImage = ImageFile & { href: string };

/** The site's own copy of an image, if there is one. A flaw is why there is none, or an old one: the end of a sentence. */
export type FoundImage = { copy?: LocalImage | undefined; flaw?: string | undefined };

/** Finds an image. `undefined` if it is none that the site serves. */
export type FindImage = (url: URL) => Promise<FoundImage | undefined>;

/**
 * Puts the site's own copies of images into HTML: in `src` and `srcset` of `<img>` and of `<source>` in `<picture>`. These
 * elements get `width`, `height`, `loading` and `decoding`, unless they have them. Every other byte stays.
 *
 * @returns also each image once, and why images stay where they are: a sentence each, without its subject.
 */
export async function localizeImages(
  html: string,
  find: FindImage,
): Promise<{ html: string; images: ImageUse[]; flaws: string[] }> {
  const found = new Map<string, FoundImage | undefined>();
  replaceImages(html, (url) => void found.set(url, undefined));
  await Promise.all([...found.keys()].map(async (url) => found.set(url, await find(new URL(url)))));
  const images: ImageUse[] = [];
  const flaws: string[] = [];
  for (const [url, image] of found) {
    if (image === undefined) continue;
    const { copy, flaw } = image;
    images.push({ url, file: copy?.file, width: copy?.width, height: copy?.height });
    const from = copy ? 'as it was last downloaded' : 'from its own host';
    if (flaw !== undefined) flaws.push(`shows ${cleanText(url)} ${from}: ${flaw}.`);
  }
  return { html: replaceImages(html, (url) => found.get(url)), images, flaws };
}

function replaceImages(html: string, find: (url: string) => FoundImage | undefined): string {
  // Most contents have no image.
  if (!/<(?:img|image|source)\b/i.test(html)) return html;
  return editTags(html, ({ name, start }, attributes, parent) => {
    const isSource = name === 'source' && parent === 'picture';
    // Browsers take <image> for <img>.
    if (!isSource && name !== 'img' && name !== 'image') return [];
    const shown: (LocalImage | undefined)[] = [];
    const hrefOf = (url: string) => {
      const copy = find(wholeUrl(url))?.copy;
      shown.push(copy);
      return copy?.href ?? url;
    };
    // On a <source>, `src` means nothing.
    const edits = (isSource ? ['srcset'] : ['src', 'srcset']).flatMap((wanted) => {
      const attribute = attributes.find((one) => one.name === wanted);
      return attribute ? replaceUrls(attribute, hrefOf) : [];
    });
    // At the end of the tag, a slash may belong to a value without quotes.
    const at = start + 1 + name.length;
    if (shown[0]) edits.push({ start: at, end: at, text: newAttributes(shown[0], isSource, attributes) });
    return edits;
  });
}

/** A URL whole, and without its fragment. One without a host gets one that no option can name. */
function wholeUrl(written: string): string {
  const nowhere = 'https://relative.invalid/';
  return URL.parse(written, nowhere)?.href.replace(/#.*/, '') ?? nowhere;
}

/** What the tag of an image lacks. */
function newAttributes(
  { width, height }: ImageFile,
  isSource: boolean,
  attributes: readonly Attribute[],
): string {
  const given = (name: string) => attributeIn(attributes, name);
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
  return Object.entries(wanted)
    .filter(([name, value]) => value !== undefined && given(name) === undefined)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
}
