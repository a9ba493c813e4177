import type { Edit } from '../markup/edits.ts';
import type { StartTag } from '../markup/start-tags.ts';
import { type Attribute, readAttribute } from '../markup/tags.ts';
import { cleanText } from '../text/clean-text.ts';
import { editTags, replaceUrls } from './attributes.ts';

/** An image that the site serves itself. Its size is in pixels, as a browser shows the image. */
export interface ImageCopy {
  /** The name of the file in the folder of assets. */
  file: string;
  /** The URL, as a page writes it. */
  href: string;
  width: number;
  height: number;
  /** What its host sent to tell versions apart: asked with these, it does not send the same bytes again. */
  etag?: string | undefined;
  lastModified?: string | undefined;
}

/** An image from one of the hosts in the site's settings, whose images the site copies. */
export interface FoundImage {
  copy?: ImageCopy | undefined;
  /** Why there is no copy, or only an old one: the end of a sentence. */
  flaw?: string | undefined;
}

/** An image in the content of a snippet. */
export interface ImageUse extends FoundImage {
  /** The URL on its own host, whole and without a fragment. */
  url: string;
}

/** Finds the copy of an image; `undefined` if its host is not in the site's settings. */
export type FindImage = (url: URL) => Promise<FoundImage | undefined>;

/** HTML whose images the site serves itself, as far as there are copies of them. */
export interface LocalizedHtml {
  html: string;
  /** The images from the hosts in the site's settings, each once. */
  images: ImageUse[];
  /** Which images have no copy, or only an old one, and why: sentences without their subject, the snippet. */
  flaws: string[];
}

/** Puts the site's copies of images into HTML, with their sizes. Without `find`, nothing changes. */
export async function localizeImages(html: string, find: FindImage | undefined): Promise<LocalizedHtml> {
  if (!find) return { html, images: [], flaws: [] };

  // This first pass only collects the URLs: without copies, it replaces nothing.
  const found = new Map<string, FoundImage | undefined>();
  replaceImages(html, (url) => void found.set(url, undefined));
  await Promise.all([...found.keys()].map(async (url) => found.set(url, await find(new URL(url)))));

  const images = [...found].flatMap(([url, image]) => (image ? [{ url, ...image }] : []));
  const flaws = images.flatMap(({ url, copy, flaw }) => {
    const from = copy ? 'as it was last downloaded' : 'from its own host';
    return flaw ? `shows ${cleanText(url)} ${from}: ${flaw}.` : [];
  });
  return { html: replaceImages(html, (url) => found.get(url)?.copy), images, flaws };
}

/** The host that a relative URL gets. No setting can contain it, so the image has no copy. */
export const relativeHost = 'relative.invalid';

/** Returns the copy of an image, if there is one, by its whole URL without a fragment. */
type CopyOf = (url: string) => ImageCopy | undefined;

const replaceImages = (html: string, copyOf: CopyOf) =>
  editTags(html, (tag, attributes) => editImage(tag, attributes, copyOf));

function editImage({ name, start, parent }: StartTag, attributes: Attribute[], copyOf: CopyOf): Edit[] {
  const isSource = name === 'source' && parent === 'picture';
  // Browsers take <image> for <img>.
  if (!isSource && name !== 'img' && name !== 'image') return [];

  const copies: (ImageCopy | undefined)[] = [];
  const hrefOf = (url: string) => {
    const wholeUrl = URL.parse(url, `https://${relativeHost}/`)?.href.replace(/#.*/, '');
    const copy = wholeUrl ? copyOf(wholeUrl) : undefined;
    copies.push(copy);
    return copy?.href ?? url;
  };

  // On a <source> in a <picture>, `src` means nothing.
  const edits = (isSource ? ['srcset'] : ['src', 'srcset']).flatMap((wanted) => {
    const attribute = attributes.find((candidate) => candidate.name === wanted);
    return attribute ? replaceUrls(attribute, hrefOf) : [];
  });

  const [copy] = copies;
  if (copy) {
    // New attributes follow the name of the element: at the end of the tag, a slash may belong to a value.
    const offset = start + 1 + name.length;
    edits.push({ start: offset, end: offset, text: newAttributes(copy, isSource, attributes) });
  }
  return edits;
}

/**
 * The attributes to add to an image: its size, so that a page does not move while it loads, and lazy loading,
 * unless the tag has its own.
 */
function newAttributes({ width, height }: ImageCopy, isSource: boolean, attributes: Attribute[]) {
  const written = (name: string) => readAttribute(attributes, name);
  const hasNoSize = written('width') === undefined && written('height') === undefined;
  // An author who writes one length gets the other one in proportion.
  const scaled = (length = '', by: number, of: number) =>
    /^[1-9]\d*$/.test(length) && Math.max(1, Math.round((Number(length) * by) / of));
  const isUrgent = written('fetchpriority')?.toLowerCase() === 'high';

  const wanted = {
    width: hasNoSize ? width : scaled(written('height'), width, height),
    height: hasNoSize ? height : scaled(written('width'), height, width),
    loading: !isSource && !isUrgent && 'lazy',
    decoding: !isSource && 'async',
  };
  const missing = Object.entries(wanted).filter(([name, value]) => value && written(name) === undefined);
  return missing.map(([name, value]) => ` ${name}="${value}"`).join('');
}
