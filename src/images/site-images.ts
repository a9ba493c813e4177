import { hash } from 'node:crypto';
import pLimit, { type LimitFunction } from 'p-limit';
import { createStorage, type Storage } from 'unstorage';
import fsLite from 'unstorage/drivers/fs-lite';
import { z } from 'zod';
import { createTransport } from '#transport';
import { systemClock } from '../client/clock.ts';
import { defaultLimits } from '../client/limits.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { type HttpResponse, isTransportError, type Transport } from '../client/transport/transport.ts';
import { type FoundImage, type ImageCopy, relativeHost } from '../content/images.ts';
import type { Assets, ImageSettings, Settings } from '../settings/settings.ts';
import { cleanText, reasonOf } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { examineImage, imageType } from './image-file.ts';

/** The images on record, by their URLs, with the copies that the output has. */
export type RecordedImages = ReadonlyMap<string, ImageCopy | undefined>;

interface SiteImagesOptions extends ImageSettings, Pick<Settings, 'ca' | 'offline' | 'imageFolder'> {
  /** The images on record. Their copies are kept while their hosts say so, or do not answer. */
  recorded?: RecordedImages | undefined;
}

interface FindOptions {
  /** Whether to download an image. Without, a copy in the cache is used, with a flaw. @default true */
  mayDownload?: boolean | undefined;
}

/** A header that a host has sent, and that is sent back: with other characters, no request could be made. */
const headerSchema = z
  .string()
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/)
  .optional();

/** What the cache has for a URL. */
const cacheEntrySchema = z.object({ file: z.string(), etag: headerSchema, lastModified: headerSchema });

interface Download extends FoundImage {
  /** Whether trying again may help. */
  isTransient?: boolean;
}

/** The statuses below 500 after which an image is asked for again. */
const transientStatuses = [408, 425, 429];

const maxImageBytes = 10 * 1024 * 1024;
const maxUrlLength = 8_000;
const maxDownloads = 8;
const maxAttempts = 3;
/** How long one attempt may take, in milliseconds. */
const downloadTimeout = 15_000;
/** Milliseconds. The wait before attempt n + 1 is drawn from 0 to this, times 2ⁿ. */
const downloadRetryBase = 250;
/** Milliseconds until an image without a copy is asked for again, as in a dev server that runs for days. */
const missingImageLifetime = 60_000;
/** How many images in a row may fail at a host in trouble. After that, it is not asked in this run. */
const maxFailedImages = 3;

/**
 * The images of a run: downloaded from the hosts that the site names, each once, and kept in a cache.
 *
 * The cache holds the bytes under the name that a site serves them by, and for each URL that name, the `ETag`
 * and `Last-Modified`. The next run asks with these, so that an unchanged image is not sent again. Without a
 * folder, the cache is in memory.
 */
export class SiteImages {
  readonly #hosts: readonly string[];
  readonly #assets: Assets;
  readonly #isOffline: boolean;
  readonly #recorded: RecordedImages;
  readonly #cache: Storage;
  readonly #transport: Transport;
  readonly #limit: LimitFunction = pLimit(maxDownloads);
  /** Images of this run, by their URLs. */
  readonly #images: Map<string, Promise<FoundImage>> = new Map();
  /** The hosts of all images in snippets, copied or not. */
  readonly #seenHosts: Set<string> = new Set();
  /** How many images in a row have failed at each host, whatever was tried. */
  readonly #failedImages: Map<string, number> = new Map();
  readonly #closed: AbortController = new AbortController();

  constructor({ hosts, assets, recorded = new Map(), ca, offline, imageFolder }: SiteImagesOptions) {
    this.#hosts = hosts;
    this.#assets = assets;
    this.#isOffline = offline;
    this.#recorded = recorded;
    this.#cache = createStorage(imageFolder === undefined ? {} : { driver: fsLite({ base: imageFolder }) });
    this.#transport = createTransport({
      ca,
      concurrency: maxDownloads,
      limits: { ...defaultLimits, bodyBytes: maxImageBytes },
      server: 'its host',
      refuseCloseDelimited: true,
    });
  }

  /** @returns `undefined` if the site does not serve images of this host. */
  async find(url: URL, { mayDownload = true }: FindOptions = {}): Promise<FoundImage | undefined> {
    if (url.host !== '' && url.host !== relativeHost) this.#seenHosts.add(url.host);
    if (!this.#hosts.includes(url.host)) return undefined;
    const known = refuseUrl(url) ?? this.#images.get(url.href);

    if (!mayDownload) {
      // A download that is under way may be over already. Otherwise it comes too late, and the cache wins.
      const cached = this.#load(url, mayDownload);
      return Promise.race(known ? [known, cached] : [cached]);
    }
    if (known) return known;

    const image = this.#limit(() => this.#load(url, mayDownload));
    this.#images.set(url.href, image);
    const { copy } = await image;
    if (!copy) setTimeout(() => this.#forget(url), missingImageLifetime).unref();
    return image;
  }

  /** The bytes of an image in the cache; `undefined` if absent or damaged. The name may be any text. */
  async read(file: string): Promise<Uint8Array | undefined> {
    const digest = /^[a-z0-9-]+\.([0-9a-f]{20})\.[a-z]+$/.exec(file)?.[1];
    if (!digest) return undefined;
    const bytes: unknown = await this.#cache.getItemRaw(file);
    // A file that was cut off or changed counts as absent.
    return bytes instanceof Uint8Array && hash('sha256', bytes).startsWith(digest) ? bytes : undefined;
  }

  /** Warns of hosts in the settings that no image is on, if there are images on other hosts. */
  hostWarnings(): string[] {
    const others = [...this.#seenHosts].filter((host) => !this.#hosts.includes(host)).sort();
    const unused = this.#hosts.filter((host) => !this.#seenHosts.has(host));
    if (others.length === 0) return [];
    return unused.map(
      (host) =>
        `images.hosts: no snippet has an image on ${host}. Images that are not copied are on ${others.join(', ')}.`,
    );
  }

  /** Ends all downloads. Images in the cache can still be read. */
  async close(): Promise<void> {
    this.#closed.abort(new SnippetError('closed', 'The images of this run were closed.'));
    await this.#transport.close();
  }

  #forget({ href, host }: URL) {
    this.#images.delete(href);
    this.#failedImages.delete(host);
  }

  #failedImagesOf({ host }: URL) {
    return this.#failedImages.get(host) ?? 0;
  }

  async #load(url: URL, mayDownload: boolean): Promise<FoundImage> {
    const copy = this.#recorded.get(url.href) ?? (await this.#readCached(url));
    if (this.#isOffline) return copy ? { copy } : { flaw: 'it is not in the cache, and `offline` is set' };
    if (!mayDownload) return { copy, flaw: 'there was no time left to download it (`timeout`)' };

    for (let attempt = 1; ; attempt += 1) {
      if (this.#failedImagesOf(url) >= maxFailedImages) return { copy, flaw: 'its host is in trouble' };
      const image = await this.#download(url, copy);
      if (!image.isTransient || attempt === maxAttempts) {
        this.#failedImages.set(url.host, image.isTransient ? this.#failedImagesOf(url) + 1 : 0);
        return { copy: image.copy, flaw: image.flaw && cleanText(image.flaw) };
      }
      await systemClock.wait(systemClock.random() * downloadRetryBase * 2 ** attempt, this.#closed.signal);
    }
  }

  /** The copy in the cache, if its bytes are complete, as the hash in its name proves. */
  async #readCached(url: URL): Promise<ImageCopy | undefined> {
    // An entry may be damaged, or written by another program. If it is not valid, there is no copy.
    const entry = cacheEntrySchema.safeParse(await this.#cache.getItem(cacheKey(url))).data;
    if (!entry) return undefined;
    const { file, etag, lastModified } = entry;
    const bytes = await this.read(file);
    const copy = bytes && examineImage(url, bytes, imageType(file) ?? '', this.#assets).copy;
    return copy && { ...copy, etag, lastModified };
  }

  /** Makes one attempt. Unless the image is gone from its host, a failure leaves the last copy in use. */
  async #download(url: URL, copy: ImageCopy | undefined): Promise<Download> {
    this.#closed.signal.throwIfAborted();

    // A list of formats would let a host choose one that older browsers lack.
    const headers = { accept: 'image/*', ...conditionOf(copy) };
    const request = { url: url.href, headers, timeout: downloadTimeout };
    let response: HttpResponse;
    try {
      response = await this.#transport.send(request, this.#closed.signal);
    } catch (error) {
      if (!isTransportError(error)) throw error;
      return { copy, flaw: error.message, isTransient: error.kind === 'network' || error.kind === 'timeout' };
    }

    const { status, contentType, etag, lastModified, body } = response;
    if (status === 304 && copy) return { copy };
    if (status !== 200) {
      const isRedirect = status >= 300 && status < 400;
      const answer = isRedirect ? `a redirect (${status}), which is not followed` : status;
      const isGone = status === 404 || status === 410;
      return {
        copy: isGone ? undefined : copy,
        flaw: `its host answered with ${answer}`,
        isTransient: status >= 500 || transientStatuses.includes(status),
      };
    }

    const image = examineImage(url, body, contentType, this.#assets);
    if (!image.copy) return { ...image, copy };
    const downloaded: ImageCopy = { ...image.copy, etag, lastModified };
    try {
      await this.#cacheImage(url, downloaded, body);
      return { copy: downloaded };
    } catch (error) {
      return { copy, flaw: `it could not be kept: ${reasonOf(error)}` };
    }
  }

  async #cacheImage(url: URL, { file, etag, lastModified }: ImageCopy, bytes: Uint8Array) {
    // A file with these bytes is not written again: it may be read right now.
    if (!(await this.read(file))) await this.#cache.setItemRaw(file, bytes);
    await this.#cache.setItem(cacheKey(url), { file, etag, lastModified });
  }
}

/** The header that asks for an image only if it differs from the copy. An `ETag` is exact; a time is not. */
function conditionOf(copy: ImageCopy | undefined): Record<string, string> {
  if (copy?.etag) return { 'if-none-match': copy.etag };
  return copy?.lastModified ? { 'if-modified-since': copy.lastModified } : {};
}

const cacheKey = ({ href }: URL) => `${hash('sha256', href)}.json`;

/** Why an image with this URL is never downloaded. */
function refuseUrl({ protocol, username, password, href }: URL): FoundImage | undefined {
  if (protocol !== 'https:') return { flaw: 'its URL does not begin with https:' };
  if (username !== '' || password !== '') return { flaw: 'its URL contains a user name or a password' };
  if (href.length > maxUrlLength) return { flaw: `its URL is longer than ${maxUrlLength} characters` };
  return containsKnownKey(href) ? { flaw: 'its URL contains the API key' } : undefined;
}
