import { systemClock } from '../client/clock.ts';
import { type Connections, NoAnswer, type RawAnswer } from '../client/transport.ts';
import { ImageError } from './image-error.ts';
import { refuseCut } from './image-file.ts';

/** What tells a server which version of an image is known. */
export interface Validators {
  etag?: string | undefined;
  lastModified?: string | undefined;
}

export interface DownloadedImage extends Validators {
  bytes: Uint8Array;
  contentType: string;
  /** How long it may be used without asking again, in milliseconds; `undefined` if it must not be stored. */
  freshFor: number | undefined;
}

/** The known version is still the current one. */
export interface UnchangedImage {
  unchanged: true;
  freshFor: number | undefined;
}

const attempts = 3;
const attemptTimeout = 15_000;
const retryBase = 250;
const longestFreshness = 365 * 24 * 60 * 60 * 1000;

/**
 * Downloads an image, in up to three attempts. Redirects are not followed, and no key is sent.
 *
 * @throws ImageError, or the reason of `signal` if it was aborted.
 */
export async function downloadImage(
  url: URL,
  known: Validators,
  connections: Connections,
  signal: AbortSignal,
): Promise<DownloadedImage | UnchangedImage> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request(url, known, connections, signal);
    } catch (error) {
      if (!(error instanceof ImageError) || !error.isTrouble || attempt === attempts) throw error;
      await systemClock.wait(systemClock.random() * retryBase * 2 ** attempt, signal);
    }
  }
}

async function request(
  url: URL,
  { etag, lastModified }: Validators,
  connections: Connections,
  signal: AbortSignal,
): Promise<DownloadedImage | UnchangedImage> {
  const headers = {
    // Not a list: hosts that choose a format would choose one that older browsers lack.
    accept: 'image/*',
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  };
  let answer: RawAnswer;
  try {
    answer = await connections.get({ url: url.href, headers, milliseconds: attemptTimeout }, signal);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new ImageError(error.message, error.kind === 'network' || error.kind === 'timeout');
  }
  const { status, header, bytes } = answer;
  const freshFor = freshnessOf(header('cache-control') ?? '', header('age') ?? '');
  const hasValidators = etag !== undefined || lastModified !== undefined;
  if (status === 304 && hasValidators) return { unchanged: true, freshFor };
  if (status >= 300 && status < 400) {
    throw new ImageError(`its host answered with a redirect (${status}), which is not followed`);
  }
  if (status !== 200) {
    throw new ImageError(`its host answered with ${status}`, status >= 500 || [408, 429].includes(status));
  }
  if ((header('content-encoding') ?? 'identity') !== 'identity') {
    throw new ImageError('its host sent it compressed');
  }
  // Here, since another attempt may bring all of it.
  refuseCut(bytes);
  return {
    bytes,
    contentType: header('content-type') ?? '',
    freshFor,
    etag: header('etag'),
    lastModified: header('last-modified'),
  };
}

/** As the header Cache-Control says, for a cache of one site. On its way, a CDN may have kept it for a while: its `Age`. */
function freshnessOf(cacheControl: string, age: string): number | undefined {
  const directives = cacheControl.toLowerCase().split(/\s*,\s*/);
  if (directives.includes('no-store')) return undefined;
  if (directives.some((directive) => /^no-cache(?:$|=)/.test(directive))) return 0;
  const seconds = directives.map((directive) => /^max-age="?(\d+)/.exec(directive)?.[1]).find(Boolean);
  const milliseconds = Math.min(Number(seconds ?? 0) * 1000, longestFreshness);
  return Math.max(0, milliseconds - Number(/^\d+$/.exec(age)?.[0] ?? 0) * 1000);
}
