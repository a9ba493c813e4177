import { hash } from 'node:crypto';
import { imageSize } from 'image-size';
import type { FoundImage } from '../content/images.ts';
import type { Assets } from '../settings/settings.ts';

/**
 * The first bytes of accepted formats. The library that measures images gets no others: files made for that
 * have put it into endless loops.
 */
const imageSignatures: Readonly<Record<string, RegExp>> = {
  png: /^\x89PNG\r\n/,
  jpeg: /^\xff\xd8\xff/,
  gif: /^GIF8/,
  webp: /^RIFF.{4}WEBPVP8/s,
  avif: /^.{4}ftypavif/s,
};

const extensionOf = (name: string) => name.slice(name.lastIndexOf('.') + 1);

/** The media type of an image by its file name; `undefined` if it is no image. */
export function imageType(name: string): string | undefined {
  const format = extensionOf(name).replace('jpg', 'jpeg');
  return format in imageSignatures ? `image/${format}` : undefined;
}

/** The URL of an image, or of the image folder for an empty name, as Astro writes the URLs of assets. */
export function imageHref({ folder, prefix }: Assets, file: string): string {
  const start = typeof prefix === 'string' ? prefix : (prefix[extensionOf(file)] ?? prefix['fallback'] ?? '');
  return `${start.replace(/\/$/, '')}/${folder}/${file}`;
}

/**
 * Finds out what a downloaded image is. Its bytes decide, and the type that it was sent with has to agree: a
 * site must not serve a page or a script that its host calls an image.
 */
export function examineImage(url: URL, bytes: Uint8Array, contentType: string, assets: Assets): FoundImage {
  const declared = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  // An SVG that is opened by itself is a page of the site, and runs its scripts there.
  if (declared === 'image/svg+xml') return { flaw: 'it is an SVG, which may contain scripts' };

  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const format = Object.keys(imageSignatures).find((name) => imageSignatures[name]?.test(start));
  if (!format) return { flaw: 'it is not a PNG, JPEG, GIF, WebP or AVIF image' };
  if (declared.replace('jpg', 'jpeg') !== `image/${format}`) {
    const type = declared === '' ? 'no type' : `the type ${declared}`;
    return { flaw: `it was sent with ${type} but is a ${format.toUpperCase()} image` };
  }

  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    // Browsers rotate a photograph by its EXIF orientation: from 5 on, width and height change places.
    const size = orientation < 5 ? { width, height } : { width: height, height: width };
    const file = imageFileName(url, bytes, format.replace('jpeg', 'jpg'));
    if (width > 0 && height > 0) return { copy: { file, ...size, href: imageHref(assets, file) } };
  } catch {
    // An unreadable size is treated like a missing one.
  }
  return { flaw: 'its size could not be read' };
}

/**
 * "big-photo.0123456789abcdef0123.jpg", after the last part of the URL and the bytes: a changed image gets
 * another name. Every name is safe in all file systems and URLs.
 */
function imageFileName({ pathname }: URL, bytes: Uint8Array, extension: string) {
  const lastPart = (pathname.split('/').at(-1) ?? '').replace(/\.\w+$/, '').toLowerCase();
  const stem = lastPart
    .replace(/%[0-9a-f]{2}|[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return `${stem || 'image'}.${hash('sha256', bytes).slice(0, 20)}.${extension}`;
}
