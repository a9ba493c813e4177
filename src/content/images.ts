import { type Attribute, readAttribute } from '../markup/tags.ts';
import { cleanText } from '../text/clean-text.ts';
import { editTags, replaceUrls } from './attributes.ts';

export interface ImageCopy {
  /** In the folder of assets. */
  file: string;
  /** As a page writes it. */
  href: string;
  /** In pixels, as a browser shows it. */
  width: number;
  height: number;
}

/** A flaw is why there is no copy, or an old one. */
export type FoundImage = { copy?: ImageCopy | undefined; flaw?: string | undefined };

export type ImageUse = FoundImage & { url: string };

/** `undefined` if the site does not serve the image. */
export type FindImage = (url: URL) => Promise<FoundImage | undefined>;

/** Puts the site's copies of images into HTML. Flaws are sentences without a subject. */
export async function localizeImages(
  html: string,
  find: FindImage | undefined,
): Promise<{
  html: string;
  images: {
    copy?: ImageCopy | undefined;
    flaw?: string | undefined;
    url: string;
  }[];
  flaws: string[];
}> {
  if (!find) return { html, images: [], flaws: [] };
  const found = new Map<string, FoundImage | undefined>();
  replaceImages(html, (url) => void found.set(url, undefined));
  await Promise.all([...found.keys()].map(async (url) => found.set(url, await find(new URL(url)))));
  const images = [...found].flatMap(([url, image]) => (image ? [{ url, ...image }] : []));
  const flaws = images.flatMap(({ url, copy, flaw }) => {
    const from = copy ? 'as it was last downloaded' : 'from its own host';
    return flaw ? `shows ${cleanText(url)} ${from}: ${flaw}.` : [];
  });
  return { html: replaceImages(html, (url) => found.get(url)), images, flaws };
}

const replaceImages = (html: string, find: (url: string) => FoundImage | undefined) =>
  editTags(html, ({ name, start, parent }, attributes) => {
    const isSource = name === 'source' && parent === 'picture';
    // Browsers take <image> for <img>.
    if (!isSource && name !== 'img' && name !== 'image') return [];
    const shown: (ImageCopy | undefined)[] = [];
    const hrefOf = (url: string) => {
      // Without its fragment. The host is in no option.
      const whole = URL.parse(url, 'https://relative.invalid/')?.href.replace(/#.*/, '');
      const copy = whole ? find(whole)?.copy : undefined;
      shown.push(copy);
      return copy?.href ?? url;
    };
    // On a <source>, `src` means nothing.
    const edits = (isSource ? ['srcset'] : ['src', 'srcset']).flatMap((wanted) => {
      const attribute = attributes.find(({ name }) => name === wanted);
      return attribute ? replaceUrls(attribute, hrefOf) : [];
    });
    // At the end of the tag, a slash may belong to a value.
    const at = start + 1 + name.length;
    if (shown[0]) edits.push({ start: at, end: at, text: newAttributes(shown[0], isSource, attributes) });
    return edits;
  });

function newAttributes({ width, height }: ImageCopy, isSource: boolean, attributes: Attribute[]) {
  const given = (name: string) => readAttribute(attributes, name);
  const isFree = given('width') === undefined && given('height') === undefined;
  const scaled = (length = '', by: number, of: number) =>
    /^[1-9]\d*$/.test(length) && Math.max(1, Math.round((Number(length) * by) / of));
  const isUrgent = given('fetchpriority')?.toLowerCase() === 'high';
  const wanted = {
    width: isFree ? width : scaled(given('height'), width, height),
    height: isFree ? height : scaled(given('width'), height, width),
    loading: !isSource && !isUrgent && 'lazy',
    decoding: !isSource && 'async',
  };
  const missing = Object.entries(wanted).filter(([name, value]) => value && given(name) === undefined);
  return missing.map(([name, value]) => ` ${name}="${value}"`).join('');
}
