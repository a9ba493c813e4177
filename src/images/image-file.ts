import { hash } from 'node:crypto';
import { imageSize } from 'image-size';
import type { FoundImage } from '../content/images.ts';
import type { Assets } from '../settings/settings.ts';

// How their bytes begin. The library that measures images gets nothing else: it has had endless loops.
const imageSignatures: Readonly<Record<string, RegExp>> = {
  png: /^\x89PNG\r\n/,
  jpeg: /^\xff\xd8\xff/,
  gif: /^GIF8/,
  webp: /^RIFF.{4}WEBPVP8/s,
  avif: /^.{4}ftypavif/s,
};

const extensionOf = (name: string) => name.slice(name.lastIndexOf('.') + 1);

export function imageType(name: string): string | undefined {
  const format = extensionOf(name).replace('jpg', 'jpeg');
  return format in imageSignatures ? `image/${format}` : undefined;
}

export function imageHref({ folder, prefix }: Assets, file: string) {
  const start = typeof prefix === 'string' ? prefix : (prefix[extensionOf(file)] ?? prefix['fallback'] ?? '');
  return `${start.replace(/\/$/, '')}/${folder}/${file}`;
}

/** The bytes decide what an image is. The declared type has to agree. */
export function examineImage(url: URL, bytes: Uint8Array, contentType: string, assets: Assets): FoundImage {
  const declared = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  // Opened by itself, it would be a page of the site that may run scripts.
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
    // Browsers turn a photograph as its camera says.
    const size = orientation < 5 ? { width, height } : { width: height, height: width };
    const file = imageFileName(url, bytes, format.replace('jpeg', 'jpg'));
    if (width > 0 && height > 0) return { copy: { file, ...size, href: imageHref(assets, file) } };
  } catch {
    // As if it had none.
  }
  return { flaw: 'its size could not be read' };
}

/** After the last part of a URL, and the bytes. Safe in every file system and URL. */
function imageFileName({ pathname }: URL, bytes: Uint8Array, extension: string) {
  const last = (pathname.split('/').at(-1) ?? '').replace(/\.\w+$/, '').toLowerCase();
  const stem = last.replace(/%[0-9a-f]{2}|[^a-z0-9]+/g, '-').slice(0, 40);
  return `${stem.replace(/^-+|-+$/g, '') || 'image'}.${hash('sha256', bytes).slice(0, 20)}.${extension}`;
}
