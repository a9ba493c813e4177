import { hash } from 'node:crypto';
import pLimit from 'p-limit';
import { createStorage } from 'unstorage';
import fsLite from 'unstorage/drivers/fs-lite';
import { systemClock } from '../client/clock.ts';
import { defaultLimits } from '../client/limits.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { httpsTransport } from '../client/transport/https.ts';
import { TransportError } from '../client/transport/transport.ts';
import type { FoundImage } from '../content/images.ts';
import type { ImageSettings, Settings } from '../settings/settings.ts';
import { cleanText, reasonOf } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { examineImage, imageType } from './image-file.ts';

type Download = FoundImage & { isTrouble?: boolean };

/** By their URLs. */
export type RecordedImages = Map<string, FoundImage>;

const largestImage = 10 * 1024 * 1024;
const longestUrl = 8_000;
const maxDownloads = 8;
const maxDownloadAttempts = 3;
const downloadTimeout = 15_000;
const downloadRetryBase = 250;
// A dev server asks again.
const failureLasts = 60_000;

interface SiteImagesOptions extends ImageSettings, Pick<Settings, 'ca' | 'offline' | 'imageFolder'> {
  /** These stay as they are. */
  recorded?: RecordedImages | undefined;
}

export type SiteImages = ReturnType<typeof openImages>;

/** The images of a run, each asked for once. Without a folder, they stay in memory. */
export function openImages({ hosts, assets, recorded, ca, offline, imageFolder: base }: SiteImagesOptions): {
  find: (
    url: URL,
    {
      mayDownload,
    }?: {
      mayDownload?: boolean | undefined;
    },
  ) => Promise<FoundImage | undefined>;
  read: (file: string) => Promise<Uint8Array<ArrayBufferLike> | undefined>;
  close: () => Promise<void>;
} {
  const cache = createStorage(base === undefined ? {} : { driver: fsLite({ base }) });
  const limits = { ...defaultLimits, bodyBytes: largestImage };
  const transport = httpsTransport({
    ca,
    concurrency: maxDownloads,
    limits,
    server: 'its host',
    needsEnd: true,
  });
  const queue = pLimit(maxDownloads);
  const asked = new Map<string, Promise<FoundImage>>();
  const ended = new AbortController();

  /** `undefined` if its host is not one of the site's. */
  async function find(
    url: URL,
    {
      mayDownload = true,
    }: {
      mayDownload?: boolean | undefined;
    } = {},
  ): Promise<FoundImage | undefined> {
    if (!hosts.includes(url.host)) return undefined;
    const known = refuseImageUrl(url) ?? recorded?.get(url.href) ?? asked.get(url.href);
    // The first that is known: a download comes too late.
    if (!mayDownload) return Promise.race([...(known ? [known] : []), look(url, false)]);
    if (known) return known;
    const image = queue(() => look(url, true));
    asked.set(url.href, image);
    const { copy } = await image;
    if (!copy) setTimeout(() => asked.delete(url.href), failureLasts).unref();
    return image;
  }

  async function look(url: URL, mayDownload: boolean): Promise<FoundImage> {
    const kept = await readKept(url);
    const copy = kept?.copy;
    if (offline) return copy ? { copy } : { flaw: 'it is not in the cache, and `offline` is set' };
    if (!mayDownload) return { copy, flaw: 'there was no time left to download it (`timeout`)' };
    for (let attempt = 1; ; attempt += 1) {
      const { isTrouble, ...found } = { copy, ...(await download(url, kept)) };
      if (!isTrouble || attempt === maxDownloadAttempts)
        return { ...found, flaw: found.flaw && cleanText(found.flaw) };
      await systemClock.wait(systemClock.random() * downloadRetryBase * 2 ** attempt, ended.signal);
    }
  }

  async function readKept(url: URL) {
    const { file = '', etag } = (await cache.getItem<Record<string, string>>(imageKey(url))) ?? {};
    const bytes = await read(file);
    const copy = bytes && examineImage(url, bytes, imageType(file) ?? '', assets).copy;
    return copy && { copy, etag };
  }

  /** The bytes of an image in the cache, by its name, which may be any text. */
  async function read(file: string): Promise<Uint8Array<ArrayBufferLike> | undefined> {
    const [, start] = /^[a-z0-9-]+\.([0-9a-f]{20})\.[a-z]+$/.exec(file) ?? [];
    if (!start) return undefined;
    const bytes: unknown = await cache.getItemRaw(file);
    // One that was cut off or changed counts as absent.
    return bytes instanceof Uint8Array && hash('sha256', bytes).startsWith(start) ? bytes : undefined;
  }

  /** With `isTrouble`, trying again may help. */
  async function download(url: URL, kept: Awaited<ReturnType<typeof readKept>>): Promise<Download> {
    ended.signal.throwIfAborted();
    // A list would let a host choose a format that older browsers lack.
    const headers = { accept: 'image/*', ...(kept?.etag && { 'if-none-match': kept.etag }) };
    const request = { url: url.href, headers, milliseconds: downloadTimeout };
    const answer = await transport.send(request, ended.signal).catch((error: unknown) => {
      if (!(error instanceof TransportError)) throw error;
      return { flaw: error.message, isTrouble: error.kind === 'network' || error.kind === 'timeout' };
    });
    if ('flaw' in answer) return answer;
    const { status, contentType, etag, body } = answer;
    if (status === 304 && kept) return { copy: kept.copy };
    if (status !== 200) {
      const isRedirect = status >= 300 && status < 400;
      const flaw = `its host answered with ${isRedirect ? `a redirect (${status}), which is not followed` : status}`;
      const isTrouble = status >= 500 || status === 408 || status === 429;
      return { flaw, isTrouble, copy: [404, 410].includes(status) ? undefined : kept?.copy };
    }
    const image = examineImage(url, body, contentType, assets);
    if (!image.copy) return image;
    const { file } = image.copy;
    try {
      // One that is there may be read right now.
      if (!(await read(file))) await cache.setItemRaw(file, body);
      await cache.setItem(imageKey(url), { file, etag });
      return image;
    } catch (error) {
      return { flaw: `it could not be kept: ${reasonOf(error)}` };
    }
  }

  /** What was found can still be read. */
  async function close(): Promise<void> {
    ended.abort(new SnippetError('closed', 'The images of this run were closed.'));
    await transport.close();
  }

  return { find, read, close };
}

const imageKey = ({ href }: URL) => `${hash('sha256', href)}.json`;

function refuseImageUrl({ protocol, username, password, href }: URL): FoundImage | undefined {
  if (protocol !== 'https:') return { flaw: 'its URL does not begin with https:' };
  if (username !== '' || password !== '') return { flaw: 'its URL contains a user name or a password' };
  if (href.length > longestUrl) return { flaw: `its URL is longer than ${longestUrl} characters` };
  return containsKnownKey(href) ? { flaw: 'its URL contains the API key' } : undefined;
}
