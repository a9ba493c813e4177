import { base, trailingSlash } from 'astro:config/client';
import { getSecret } from 'astro:env/server';
import { parseSnippetId } from '../client/snippet-request.ts';
import { createLiveLoader, type LiveSnippetLoader } from './create-live-loader.ts';
import type { LiveSnippetOptions } from './live-options.ts';

export type { LiveSnippetFilter, LiveSnippetLoader, LiveSnippetsFilter } from './create-live-loader.ts';
export { LiveSnippetError } from './live-error.ts';
export type { LiveSnippetOptions } from './live-options.ts';
export type { LiveSnippetData } from './live-snippets.ts';

/**
 * A loader for a live collection: snippets that are fetched when a reader asks for a page that is rendered on demand, or
 * for a server island. Needs Astro 6 or later.
 *
 * `getLiveEntry('snippets', { id: 42 })` gives `entry.data.content` (HTML) and `entry.data.text`; `render(entry)` returns
 * a `<Content />`. Its `cacheHint` has the tag `snippet-42`, for `Astro.cache`. The API key and the base URLs come from
 * the environment of the server, where it runs.
 *
 * @throws SnippetError `invalid-options`, while the collection is defined
 *
 * @example
 * export const collections = { snippets: defineLiveCollection({ loader: liveSnippetLoader({ maxAge: '10m' }) }) };
 */
export function liveSnippetLoader(options: LiveSnippetOptions = {}): LiveSnippetLoader {
  const loader = createLiveLoader(options, {
    readVariable: getSecret,
    urls: { base, trailingSlash },
    // biome-ignore lint/suspicious/noConsole: Astro passes no logger to live loaders.
    warn: (line) => console.warn(`[astro-snippets] ${line}`),
  });
  loaders.add(loader);
  return loader;
}

/** The loaders of this server. */
const loaders = new Set<LiveSnippetLoader>();

/**
 * Has the next page that shows a snippet wait for the service, in spite of `maxAge`. Call it when the snippet was
 * published, before you purge pages that are cached.
 *
 * @param id the snippet's id, as a webhook has it
 * @throws SnippetError `invalid-id`
 */
export function forgetSnippet(id: number): void {
  const snippetId = parseSnippetId(id);
  for (const loader of loaders) loader.forget(snippetId);
}
