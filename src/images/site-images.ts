import { hash } from 'node:crypto';
import pLimit from 'p-limit';
import { cleanText } from '../client/clean-text.ts';
import { containsKnownKey } from '../client/known-keys.ts';
import { defaultLimits } from '../client/limits.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { type Connections, openConnections } from '../client/transport.ts';
import type { FindImage, ImageUse, LocalImage } from '../html/images.ts';
import { isYounger } from '../settings/duration.ts';
import type { Assets, Settings } from '../settings/settings.ts';
import { type DownloadedImage, downloadImage, type UnchangedImage } from './download.ts';
import { type CachedImage, ImageCache, type ImageEntry } from './image-cache.ts';
import { ImageError } from './image-error.ts';
import { examineImage, imageHref, imageName } from './image-file.ts';

type Found = LocalImage | { flaw: string };

interface UsableImage extends CachedImage {
  /** Whether the cache has it. */
  isKept: boolean;
  /** Why it may be out of date. */
  stale?: string;
}

/** The images of a site that was built. */
export interface RecordedImages {
  /** Those of a content that it shows; `undefined` if it shows another content of the snippet. */
  of(request: SnippetRequest, content: string): readonly ImageUse[] | undefined;
  /** An image that it serves, by its URL. */
  byUrl(url: string): ImageUse | undefined;
}

export interface SiteImagesOptions {
  /** What it serves is not downloaded again, and what it shows stays as it is. */
  recorded?: RecordedImages | undefined;
  /** After how many milliseconds an image that failed is tried again. @default not in this run */
  retryAfter?: number | undefined;
}

const MiB = 1024 * 1024;
/** The largest image accepted, in bytes. */
const imageBytes = 10 * MiB;
const downloadsAtOnce = 8;
const longestUrl = 8_000;
// A host that is down would keep a build waiting for each of its images.
const failuresInARow = 5;

/**
 * The images of a run: each is downloaded once, from a host that the site names. Its bytes stay in the cache; without a
 * cache, in memory.
 */
export class SiteImages {
  readonly #settings: Pick<Settings, 'ca' | 'offline' | 'staleIfError'>;
  readonly #assets: Assets;
  readonly #hosts: ReadonlySet<string>;
  readonly #cache: ImageCache | undefined;
  readonly #options: SiteImagesOptions;
  readonly #queue = pLimit(downloadsAtOnce);
  readonly #found = new Map<string, { at: number; image: Promise<Found> }>();
  // What the cache does not have, by the names of files.
  readonly #unkept = new Map<string, Uint8Array>();
  readonly #ended = new AbortController();
  // How often hosts failed in a row, and when they last did.
  readonly #failures = new Map<string, { count: number; at: number }>();
  #connections: Connections | undefined;

  /** @param folder of the cache, if there is one. */
  constructor(
    settings: Pick<Settings, 'ca' | 'offline' | 'staleIfError'>,
    { hosts, assets, folder }: { hosts: readonly string[]; assets: Assets; folder: string | undefined },
    options: SiteImagesOptions = {},
  ) {
    this.#settings = settings;
    this.#assets = assets;
    this.#hosts = new Set(hosts);
    this.#cache = folder === undefined ? undefined : new ImageCache(folder);
    this.#options = options;
  }

  /** How the images of a content are found. */
  finderFor(request: SnippetRequest, content: string, { mayDownload = true } = {}): FindImage {
    const recorded = this.#options.recorded?.of(request, content);
    if (recorded === undefined) return (url) => this.find(url, { mayDownload });
    const uses = new Map(recorded.map((use) => [use.url, use]));
    return async ({ href }) => {
      const use = uses.get(href);
      return use && (this.#copyOf(use) ?? { flaw: 'it could not be downloaded before' });
    };
  }

  #copyOf({ file, width, height }: ImageUse): LocalImage | undefined {
    if (file === undefined || width === undefined || height === undefined) return undefined;
    return { file, width, height, href: imageHref(this.#assets, file) };
  }

  /**
   * Finds the copy of an image, and downloads it if necessary. `undefined` if its host is not one of the site's.
   *
   * @param options.mayDownload whether there is time for a download. If not, it is what this run has found, or what the
   * cache has.
   * @throws SnippetError `closed`, if it had to be downloaded after {@link close}.
   */
  async find(url: URL, { mayDownload = true } = {}): Promise<Found | undefined> {
    if (!this.#hosts.has(url.host)) return undefined;
    const flaw = flawOf(url);
    if (flaw !== undefined) return { flaw };
    const asked = this.#found.get(url.href);
    // The first one that is known: a download that is under way comes too late.
    if (!mayDownload)
      return Promise.race([...(asked === undefined ? [] : [asked.image]), this.#findCached(url)]);
    if (asked !== undefined) {
      const image = await asked.image;
      if (!('flaw' in image) || this.#isRecent(asked.at)) return image;
      if (this.#found.get(url.href) !== asked) return this.find(url);
    }
    const image = this.#find(url);
    this.#found.set(url.href, { at: Date.now(), image });
    return image;
  }

  async #findCached(url: URL): Promise<Found> {
    const cached = await this.#cache?.read(url.href);
    if (cached !== undefined && isFresh(cached.entry)) return this.#use({ ...cached, isKept: true });
    const flaw = 'there was no time left to download it (`timeout`)';
    const last = this.#lastGood(cached, flaw);
    return last === undefined ? { flaw } : this.#use(last);
  }

  /** A cached image that may be out of date, if it is still young enough to be used. */
  #lastGood(cached: CachedImage | undefined, stale: string): UsableImage | undefined {
    const { staleIfError } = this.#settings;
    const mayBeUsed =
      cached !== undefined && staleIfError > 0 && isYounger(cached.entry, staleIfError, Date.now());
    return mayBeUsed ? { ...cached, isKept: true, stale } : undefined;
  }

  /** The bytes of an image that was found in this run, or is in the cache, by its name. */
  async read(file: string): Promise<Uint8Array | undefined> {
    return this.#unkept.get(file) ?? this.#cache?.readFile(file);
  }

  /** Ends what is under way or waiting, and closes connections. What was found can still be read. */
  async close(): Promise<void> {
    this.#ended.abort(new SnippetError('closed', 'The images of this run were closed.'));
    await this.#connections?.close();
  }

  /** Whether it is too early to try again. */
  #isRecent(at: number): boolean {
    const { retryAfter = Number.POSITIVE_INFINITY } = this.#options;
    return Date.now() - at < retryAfter;
  }

  async #find(url: URL): Promise<Found> {
    const use = this.#options.recorded?.byUrl(url.href);
    const copy = use && this.#copyOf(use);
    if (copy !== undefined) return copy;
    try {
      return this.#use(await this.#queue(() => this.#get(url)));
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      return { flaw: cleanText(error.message) };
    }
  }

  #use({ entry: { file, width, height }, bytes, isKept, stale }: UsableImage): LocalImage {
    if (!isKept) this.#unkept.set(file, bytes);
    return { file, width, height, href: imageHref(this.#assets, file), stale };
  }

  async #get(url: URL): Promise<UsableImage> {
    const { offline } = this.#settings;
    const cached = await this.#cache?.read(url.href);
    if (cached !== undefined && (offline || isFresh(cached.entry))) {
      return { ...cached, isKept: true };
    }
    if (offline) throw new ImageError('it is not in the cache, and `offline` is set');
    try {
      return await this.#download(url, cached);
    } catch (error) {
      if (!(error instanceof ImageError) || !error.isTrouble) throw error;
      const last = this.#lastGood(cached, cleanText(error.message));
      if (last === undefined) throw error;
      return last;
    }
  }

  async #download(url: URL, cached: CachedImage | undefined): Promise<UsableImage> {
    const { signal } = this.#ended;
    signal.throwIfAborted();
    const failures = this.#failures.get(url.host);
    if (failures !== undefined && failures.count >= failuresInARow && this.#isRecent(failures.at)) {
      throw new ImageError(`its host failed for ${failuresInARow} images in a row and was given up`, true);
    }
    this.#connections ??= openConnections({
      ca: this.#settings.ca,
      concurrency: downloadsAtOnce,
      limits: { ...defaultLimits, bodyBytes: imageBytes },
      server: 'its host',
    });
    let downloaded: DownloadedImage | UnchangedImage;
    try {
      downloaded = await downloadImage(url, cached?.entry ?? {}, this.#connections, signal);
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      if (error.isTrouble) this.#countFailure(url);
      else this.#failures.delete(url.host);
      throw error;
    }
    this.#failures.delete(url.host);
    if (!('unchanged' in downloaded)) return this.#keep(url, downloaded);
    if (cached === undefined) throw new ImageError('its host sent no image');
    const entry = { ...cached.entry, ...times(downloaded.freshFor ?? 0) };
    await this.#cache?.confirm(entry);
    return { ...cached, entry, isKept: true };
  }

  #countFailure({ host }: URL): void {
    const { count = 0 } = this.#failures.get(host) ?? {};
    this.#failures.set(host, { count: count + 1, at: Date.now() });
  }

  async #keep(url: URL, downloaded: DownloadedImage): Promise<UsableImage> {
    const { bytes, contentType, freshFor, etag, lastModified } = downloaded;
    const { extension, ...size } = examineImage(bytes, contentType);
    const entry: ImageEntry = {
      url: url.href,
      file: imageName(url, bytes, extension),
      ...size,
      sha256: hash('sha256', bytes),
      etag,
      lastModified,
      ...times(freshFor ?? 0),
    };
    const isKept = freshFor !== undefined && (await this.#cache?.write({ entry, bytes })) === true;
    return { entry, bytes, isKept };
  }
}

function times(freshFor: number): Pick<ImageEntry, 'fetchedAt' | 'freshUntil'> {
  const fetchedAt = Date.now();
  return { fetchedAt, freshUntil: fetchedAt + freshFor };
}

function isFresh(entry: ImageEntry): boolean {
  const freshFor = entry.freshUntil - entry.fetchedAt;
  return freshFor > 0 && isYounger(entry, freshFor, Date.now());
}

/** Why a URL is not asked for. */
function flawOf(url: URL): string | undefined {
  if (url.protocol !== 'https:') return 'its URL does not begin with https:';
  if (url.username !== '' || url.password !== '') return 'its URL contains a user name or a password';
  if (url.href.length > longestUrl) return `its URL is longer than ${longestUrl} characters`;
  return containsKnownKey(url.href) ? 'its URL contains the API key' : undefined;
}
