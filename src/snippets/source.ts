import { keyDetector } from '../client/api-key.ts';
import type { Clock } from '../client/clock.ts';
import { formatDuration } from '../client/format.ts';
import type { Limits } from '../client/limits.ts';
import type { Counts, Notice } from '../client/scheduler.ts';
import { type Snippet, SnippetClient } from '../client/snippet-client.ts';
import type { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { requireConnection, type Settings } from '../settings/settings.ts';
import { cacheKeys, SnippetCache } from './cache.ts';
import { type CacheEndpoint, CachingSource, type CachingSourceOptions } from './caching-source.ts';

/** A snippet from the service or from the cache. */
export interface SourcedSnippet extends Snippet {
  /** When the service sent it, in milliseconds since the epoch; `undefined` if that was just now. */
  fetchedAt?: number | undefined;
  /** Why the service did not send it now. The content is then the last good one. */
  error?: SnippetError | undefined;
}

/** Where snippets come from: the service, or the service and a cache. */
export interface SnippetSource {
  /** @throws SnippetError, or SiteError `not-cached` */
  fetch(request: SnippetRequest, signal?: AbortSignal): Promise<SourcedSnippet>;
  /** What the service was asked, and how many snippets came from the cache instead. */
  readonly counts: Readonly<Counts & { cached?: number }>;
  readonly routeMissing?: SnippetClient['routeMissing'];
  close(): Promise<void>;
}

export interface SourceOptions {
  /** Called with each line to show: a service that fails, a cache that cannot be used. */
  warn(line: string): void;
  /** Called instead of `warn` with what the service is doing. */
  notify?(line: string): void;
  limits?: Partial<Limits> | undefined;
  /** The most that a service which answers nobody is tried, in milliseconds. @default the settings' own */
  patience?: number | undefined;
  /** For waits between attempts. @default the system's */
  clock?: Clock | undefined;
  /** Makes a request even if a cached answer is young enough. */
  alwaysAsk?: boolean | undefined;
  /** Ignores a cached answer if the site has already shown a newer one. */
  isSuperseded?: CachingSourceOptions['isSuperseded'] | undefined;
  /** Whether an answer is cached. @default each is */
  isWorthKeeping?: ((request: SnippetRequest, content: string) => boolean) | undefined;
}

// For storages that delete old entries by themselves: how long an answer should be kept at least.
const keepFor = 30 * 24 * 60 * 60 * 1000;

/** @throws AstroError if the key or the base URLs are not set. */
export function openSource(settings: Settings, options: SourceOptions): SnippetSource {
  const { warn, notify = warn, limits, clock, alwaysAsk = false } = options;
  const patience = Math.min(settings.patience, options.patience ?? Number.POSITIVE_INFINITY);
  const { isSuperseded = () => false, isWorthKeeping = () => true } = options;
  const { renderBaseUrl, retrieveBaseUrl, ca, concurrency, cache, answerFolder, staleIfError, offline } =
    settings;
  const apiKey = requireConnection(settings);
  const onNotice = (notice: Notice) => {
    const line = describeNotice(notice);
    if (line !== undefined) notify(line);
  };
  const service = new SnippetClient(
    { apiKey, renderBaseUrl, retrieveBaseUrl, ca, concurrency, patience, onNotice },
    { clock, limits },
  );
  if (cache === false || answerFolder === undefined) return service;
  const { driver, options: driverOptions, maxAge } = cache;
  const containsKey = keyDetector(apiKey);
  return new CachingSource(service, {
    cache: new SnippetCache(
      { driver, options: driverOptions, folder: answerFolder },
      Math.max(keepFor, maxAge, staleIfError),
      warn,
    ),
    policy: { maxAge: alwaysAsk ? 0 : maxAge, staleIfError, offline },
    keyOf: cacheKeys(apiKey),
    mayKeep: (request, { content, name = '' }) =>
      !containsKey(content) && !containsKey(name) && isWorthKeeping(request, content),
    endpoints: endpointsOf(renderBaseUrl, retrieveBaseUrl),
    isSuperseded,
  });
}

function endpointsOf(renderBaseUrl: string | undefined, retrieveBaseUrl: string | undefined) {
  const endpoints: CacheEndpoint[] = [];
  if (renderBaseUrl !== undefined) endpoints.push({ baseUrl: renderBaseUrl, variant: 'render' });
  if (retrieveBaseUrl !== undefined) endpoints.push({ baseUrl: retrieveBaseUrl, variant: 'retrieve' });
  return endpoints;
}

function describeNotice(notice: Notice): string | undefined {
  switch (notice.kind) {
    case 'held':
      return `The service at ${notice.origin} asks to wait ${formatDuration(notice.milliseconds)}.`;
    case 'failing':
      return `The service at ${notice.origin} fails for every request: ${notice.reason}. It is tried for ${formatDuration(notice.patience)}, until ${formatTime(notice.until)}.`;
    case 'recovered':
      return `The service at ${notice.origin} responds again.`;
    case 'render-given-up':
      // That is said with the URL, when all snippets are there.
      return notice.isRouteMissing
        ? undefined
        : 'Rendering (variant B) failed for several snippets in a row. The rest are retrieved (variant A).';
  }
}

/** The time of day, as Astro's own log has it. */
function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toLocaleTimeString('en-GB');
}
