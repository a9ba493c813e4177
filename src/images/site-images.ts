import { hash } from 'node:crypto';
import pLimit, { type LimitFunction } from 'p-limit';
import { createStorage, type Storage } from 'unstorage';
import fsLite from 'unstorage/drivers/fs-lite';
import { systemClock } from '../client/clock.ts';
import { defaultLimits } from '../client/limits.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { httpsTransport } from '../client/transport/https.ts';
import { type HttpResponse, type Transport, TransportError } from '../client/transport/transport.ts';
import type { FoundImage, ImageCopy } from '../content/images.ts';
import type { Assets, ImageSettings, Settings } from '../settings/settings.ts';
import { cleanText, reasonOf } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { examineImage, imageType } from './image-file.ts';

/** Images that an earlier run has found, by their URLs. */
export type RecordedImages = Map<string, FoundImage>;

interface SiteImagesOptions extends ImageSettings, Pick<Settings, 'ca' | 'offline' | 'imageFolder'> {
  /** Images of an earlier run, which are used without asking their hosts again. */
  recorded?: RecordedImages | undefined;
}

interface FindOptions {
  /** Whether to download an image. Without, a copy in the cache is used, with a flaw. @default true */
  mayDownload?: boolean | undefined;
}

/** A copy in the cache whose bytes are complete, as the hash in its name has proved. */
interface CachedImage {
  copy: ImageCopy;
  etag: string | undefined;
}

interface Download extends FoundImage {
  /** Whether trying again may help. */
  isTransient?: boolean;
}

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

/**
 * The images of a run: downloaded from the hosts that the site names, each once, and kept in a cache.
 *
 * The cache holds the bytes under the name that a site serves them by, and for each URL that name and the
 * `ETag`. The next run asks with that `ETag`, so that an unchanged image is not sent again. Without a folder,
 * the cache is in memory.
 */
export class SiteImages {
  readonly #hosts: readonly string[];
  readonly #assets: Assets;
  readonly #isOffline: boolean;
  readonly #recorded: RecordedImages | undefined;
  readonly #cache: Storage;
  readonly #transport: Transport;
  readonly #limit: LimitFunction = pLimit(maxDownloads);
  /** Images of this run, by their URLs. */
  readonly #images: Map<string, Promise<FoundImage>> = new Map();
  readonly #closed: AbortController = new AbortController();

  constructor({ hosts, assets, recorded, ca, offline, imageFolder }: SiteImagesOptions) {
    this.#hosts = hosts;
    this.#assets = assets;
    this.#isOffline = offline;
    this.#recorded = recorded;
    this.#cache = createStorage(imageFolder === undefined ? {} : { driver: fsLite({ base: imageFolder }) });
    this.#transport = httpsTransport({
      ca,
      concurrency: maxDownloads,
      limits: { ...defaultLimits, bodyBytes: maxImageBytes },
      server: 'its host',
      refuseCloseDelimited: true,
    });
  }

  /** @returns `undefined` if the site does not serve images of this host. */
  async find(url: URL, { mayDownload = true }: FindOptions = {}): Promise<FoundImage | undefined> {
    if (!this.#hosts.includes(url.host)) return undefined;
    const known = refuseUrl(url) ?? this.#recorded?.get(url.href) ?? this.#images.get(url.href);

    if (!mayDownload) {
      // A download that is under way may be over already. Otherwise it comes too late, and the cache wins.
      const cached = this.#load(url, mayDownload);
      return Promise.race(known ? [known, cached] : [cached]);
    }
    if (known) return known;

    const image = this.#limit(() => this.#load(url, mayDownload));
    this.#images.set(url.href, image);
    const { copy } = await image;
    if (!copy) setTimeout(() => this.#images.delete(url.href), missingImageLifetime).unref();
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

  /** Ends all downloads. Images in the cache can still be read. */
  async close(): Promise<void> {
    this.#closed.abort(new SnippetError('closed', 'The images of this run were closed.'));
    await this.#transport.close();
  }

  async #load(url: URL, mayDownload: boolean): Promise<FoundImage> {
    const cached = await this.#readCached(url);
    const copy = cached?.copy;
    if (this.#isOffline) return copy ? { copy } : { flaw: 'it is not in the cache, and `offline` is set' };
    if (!mayDownload) return { copy, flaw: 'there was no time left to download it (`timeout`)' };

    for (let attempt = 1; ; attempt += 1) {
      const image = await this.#download(url, cached);
      if (!image.isTransient || attempt === maxAttempts) {
        return { copy: image.copy, flaw: image.flaw && cleanText(image.flaw) };
      }
      await systemClock.wait(systemClock.random() * downloadRetryBase * 2 ** attempt, this.#closed.signal);
    }
  }

  async #readCached(url: URL): Promise<CachedImage | undefined> {
    const { file = '', etag } = (await this.#cache.getItem<Record<string, string>>(cacheKey(url))) ?? {};
    const bytes = await this.read(file);
    const copy = bytes && examineImage(url, bytes, imageType(file) ?? '', this.#assets).copy;
    return copy && { copy, etag };
  }

  /** Makes one attempt. Unless the image is gone from its host, a failure leaves the cached copy in use. */
  async #download(url: URL, cached: CachedImage | undefined): Promise<Download> {
    this.#closed.signal.throwIfAborted();
    const copy = cached?.copy;

    // A list of formats would let a host choose one that older browsers lack.
    const headers = { accept: 'image/*', ...(cached?.etag && { 'if-none-match': cached.etag }) };
    const request = { url: url.href, headers, timeout: downloadTimeout };
    let response: HttpResponse;
    try {
      response = await this.#transport.send(request, this.#closed.signal);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      return { copy, flaw: error.message, isTransient: error.kind === 'network' || error.kind === 'timeout' };
    }

    const { status, contentType, etag, body } = response;
    if (status === 304 && cached) return { copy };
    if (status !== 200) {
      const isRedirect = status >= 300 && status < 400;
      const answer = isRedirect ? `a redirect (${status}), which is not followed` : status;
      const isGone = status === 404 || status === 410;
      return {
        copy: isGone ? undefined : copy,
        flaw: `its host answered with ${answer}`,
        isTransient: status >= 500 || status === 408 || status === 429,
      };
    }

    const image = examineImage(url, body, contentType, this.#assets);
    if (!image.copy) return { ...image, copy };
    try {
      await this.#cacheImage(url, image.copy.file, body, etag);
      return image;
    } catch (error) {
      return { copy, flaw: `it could not be kept: ${reasonOf(error)}` };
    }
  }

  async #cacheImage(url: URL, file: string, bytes: Uint8Array, etag: string | undefined) {
    // A file with these bytes is not written again: it may be read right now.
    if (!(await this.read(file))) await this.#cache.setItemRaw(file, bytes);
    await this.#cache.setItem(cacheKey(url), { file, etag });
  }
}

const cacheKey = ({ href }: URL) => `${hash('sha256', href)}.json`;

/** Why an image with this URL is never downloaded. */
function refuseUrl({ protocol, username, password, href }: URL): FoundImage | undefined {
  if (protocol !== 'https:') return { flaw: 'its URL does not begin with https:' };
  if (username !== '' || password !== '') return { flaw: 'its URL contains a user name or a password' };
  if (href.length > maxUrlLength) return { flaw: `its URL is longer than ${maxUrlLength} characters` };
  return containsKnownKey(href) ? { flaw: 'its URL contains the API key' } : undefined;
}
