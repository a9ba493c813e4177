import { join } from 'node:path';
import { cacheKeysOf } from './cache/cache-key.ts';
import { CachingClient, type CachingClientOptions } from './cache/caching-client.ts';
import { SnippetCache } from './cache/snippet-cache.ts';
import { keyDetector } from './client/api-key.ts';
import type { SnippetClientOptions } from './client/snippet-client.ts';
import { createClient, requireKey } from './create-client.ts';
import type { Settings } from './options.ts';
import type { SnippetSource } from './snippet-source.ts';

// A storage that forgets by itself is told to keep an answer for this long at least.
const keepFor = 30 * 24 * 60 * 60 * 1000;

export interface SourceOptions extends Pick<SnippetClientOptions, 'limits' | 'onNotice'> {
  /** Told of a cache that cannot be used. */
  warn(line: string): void;
  /** Whether the service is always asked, however young a kept answer is. */
  alwaysAsk?: boolean;
  isSuperseded?: CachingClientOptions['isSuperseded'];
}

/** Makes what a build, a dev server or a collection asks: as {@link createClient}, with the cache of the options. */
export function createSource(
  settings: Settings,
  who: string,
  { warn, alwaysAsk = false, isSuperseded = () => false, ...more }: SourceOptions,
): SnippetSource {
  const client = createClient(settings, who, more);
  const { cache, cacheDirectory, staleIfError, offline, renderBaseUrl, retrieveBaseUrl } = settings;
  if (cache === false || cacheDirectory === undefined) return client;
  const { driver, options, maxAge } = cache;
  const apiKey = requireKey(settings, who);
  const holdsKey = keyDetector(apiKey);
  const folder = join(cacheDirectory, 'astro-snippets/answers');
  return new CachingClient(client, {
    cache: new SnippetCache({ driver, options, folder }, Math.max(keepFor, maxAge, staleIfError), warn),
    policy: { maxAge: alwaysAsk ? 0 : maxAge, staleIfError, offline },
    keyOf: cacheKeysOf(apiKey),
    mayKeep: ({ content, name = '' }) => !holdsKey(content) && !holdsKey(name),
    endpoints: [
      ...(renderBaseUrl === undefined ? [] : [{ baseUrl: renderBaseUrl, variant: 'render' as const }]),
      ...(retrieveBaseUrl === undefined ? [] : [{ baseUrl: retrieveBaseUrl, variant: 'retrieve' as const }]),
    ],
    isSuperseded,
  });
}
