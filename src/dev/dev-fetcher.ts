import type { AstroIntegrationLogger } from 'astro';
import type { Settings } from '../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../snippets/fetch-snippets.ts';

// A person is waiting for the page: fewer attempts than in a build, and a service that recovers is noticed quickly.
const limits = {
  attempts: 3,
  fallbacksInARow: Number.POSITIVE_INFINITY,
  deadline: 20_000,
  outageCap: 2_000,
};

/** Opens the snippets of a dev server, for its pages and its collections. */
export function openDevFetcher(
  settings: Settings,
  logger: AstroIntegrationLogger,
  onClasses: FetcherOptions['onClasses'],
): SnippetFetcher {
  return new SnippetFetcher(settings, {
    warn: (line) => logger.warn(line),
    parts: { limits },
    patience: 0,
    alwaysAsk: true,
    remember: false,
    onClasses,
  });
}
