import { hash } from 'node:crypto';
import { imageSize } from 'image-size';
import type { Assets } from '../settings/settings.ts';
import { ImageError } from './image-error.ts';
import {
  type IsWhole,
  isWholeAvif,
  isWholeGif,
  isWholeJpeg,
  isWholePng,
  isWholeWebp,
} from './whole-image.ts';

/** What is known of an image by its bytes. */
export interface ImageFacts {
  /** The end of its name, without a dot. */
  extension: string;
  /** As a browser shows it, in pixels. */
  width: number;
  height: number;
}

interface Format {
  /** What its bytes have at these offsets, as Latin-1. */
  magic: Readonly<Record<number, string>>;
  /** The first is the one that it is served with. */
  types: readonly [string, ...string[]];
  isWhole: IsWhole;
}

/** The formats that are served, by the ends of names. Nothing else reaches the library that measures images. */
const formats: Readonly<Record<string, Format>> = {
  png: { magic: { 0: '\x89PNG\r\n\x1a\n' }, types: ['image/png'], isWhole: isWholePng },
  jpg: { magic: { 0: '\xff\xd8\xff' }, types: ['image/jpeg', 'image/jpg'], isWhole: isWholeJpeg },
  gif: { magic: { 0: 'GIF8' }, types: ['image/gif'], isWhole: isWholeGif },
  webp: { magic: { 0: 'RIFF', 8: 'WEBPVP8' }, types: ['image/webp'], isWhole: isWholeWebp },
  avif: { magic: { 4: 'ftypavif' }, types: ['image/avif'], isWhole: isWholeAvif },
};

/**
 * Finds out what an image is. Its bytes decide, and the type that was declared has to agree.
 *
 * @throws ImageError
 */
export function examineImage(bytes: Uint8Array, contentType: string): ImageFacts {
  const declared = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  // Opened by itself, an SVG is a page that may run scripts, and it would be one of the site's own.
  if (declared === 'image/svg+xml') throw new ImageError('it is an SVG, which may contain scripts');
  const [extension, format] = formatOf(bytes) ?? [];
  if (extension === undefined || format === undefined) {
    throw new ImageError('it is not a PNG, JPEG, GIF, WebP or AVIF image');
  }
  if (!format.types.includes(declared)) {
    const type = declared === '' ? 'no type' : `the type ${declared}`;
    throw new ImageError(`it was sent with ${type} but is a ${extension.toUpperCase()} image`);
  }
  return { extension, ...sizeOf(bytes) };
}

/** @throws ImageError if an image was cut off, as by a connection that was closed without a word about its length. */
export function refuseCut(bytes: Uint8Array): void {
  const [, format] = formatOf(bytes) ?? [];
  const { buffer, byteOffset, byteLength } = bytes;
  if (format?.isWhole(Buffer.from(buffer, byteOffset, byteLength)) === false) {
    throw new ImageError('it was cut off', true);
  }
}

function formatOf(bytes: Uint8Array): [string, Format] | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  return Object.entries(formats).find(([, { magic }]) => hasMagic(start, magic));
}

function hasMagic(start: string, magic: Format['magic']): boolean {
  return Object.entries(magic).every(([offset, text]) => start.startsWith(text, Number(offset)));
}

/** The type of an image, by its name. */
export function imageType(name: string): string | undefined {
  return formats[name.slice(name.lastIndexOf('.') + 1)]?.types[0];
}

function sizeOf(bytes: Uint8Array): Pick<ImageFacts, 'width' | 'height'> {
  let size: { width: number; height: number; orientation?: number };
  try {
    size = imageSize(bytes);
  } catch {
    throw new ImageError('its size could not be read');
  }
  const { width, height, orientation = 1 } = size;
  if (!isLength(width) || !isLength(height)) throw new ImageError('its size could not be read');
  // Browsers turn a photograph as its camera says.
  return orientation >= 5 ? { width: height, height: width } : { width, height };
}

function isLength(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

const longestStem = 40;

/** A name that changes with the bytes, after the last part of a URL. Safe in every file system and URL. */
export function imageName({ pathname }: URL, bytes: Uint8Array, extension: string): string {
  const last = (pathname.split('/').at(-1) ?? '').replace(/\.\w+$/, '');
  const stem = last
    .toLowerCase()
    .replace(/%[0-9a-f]{2}|[^a-z0-9]+/g, '-')
    .slice(0, longestStem)
    .replace(/^-+|-+$/g, '');
  return `${stem || 'image'}.${hash('sha256', bytes, 'hex').slice(0, 20)}.${extension}`;
}

/** The URL of an image in the folder of assets, by its name. */
export function imageHref({ folder, prefix }: Assets, file: string): string {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  const start = typeof prefix === 'string' ? prefix : (prefix[extension] ?? prefix['fallback'] ?? '');
  return `${start.replace(/\/$/, '')}/${folder}/${file}`;
}
