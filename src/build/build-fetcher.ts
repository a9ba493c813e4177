import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf } from '../failures/errors.ts';
import { hashOf, type Manifest, requestsOf, snippetsByKey } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { type SnippetUses, snippetUse } from '../snippets/file-embeds.ts';
import type { KeptAnswer } from '../snippets/kept-answers.ts';
import { type SiteSource, SourceSearch } from '../source/source-search.ts';
import type { BuildLogger } from './inline-snippets.ts';

/** The snippets of a build that follows another one. It uses each answer for the whole run. */
export function fetcherAfter(
  before: Manifest | undefined,
  settings: Settings,
  logger: BuildLogger,
  onClasses?: FetcherOptions['onClasses'],
): SnippetFetcher {
  return new SnippetFetcher(settings, {
    warn: (line) => logger.warn(line),
    remember: true,
    isSuperseded: supersededBy(before),
    onClasses,
  });
}

/**
 * Prepares snippets before Astro bundles, so that their classes are known. One that fails is ignored: it is asked for
 * again when a page shows it.
 *
 * @returns the classes that the last build knew of snippets that the service did not send. It may do so when a page
 * shows them.
 */
export async function prepareEarly(
  fetcher: SnippetFetcher,
  before: Manifest | undefined,
  sources: SiteSource,
  { params }: Pick<Settings, 'params'>,
): Promise<string[]> {
  const uses: SnippetUses = new Map();
  const known = requestsOf(before);
  // What the option adds may depend on the page's language, which is known once the page is rendered.
  const literal = params === undefined ? new SourceSearch(sources).literalRequests() : [];
  for (const request of [...known, ...literal]) snippetUse(uses, request).asHtml = true;
  const failed = await fetcher.prepare([...uses.values()]);
  const missed = failed.filter(({ error }) => effectOf(error) === 'children');
  const shown = snippetsByKey(before);
  return missed.flatMap(({ request }) => shown.get(request.key)?.content?.classes ?? []);
}

/**
 * A cached answer is too old if the site has shown a newer one since, or that the snippet does not exist: a refresh
 * always asks the service.
 */
function supersededBy(before: Manifest | undefined): (request: SnippetRequest, entry: KeptAnswer) => boolean {
  if (before === undefined) return () => false;
  const shown = snippetsByKey(before);
  const askedAt = Date.parse(before.refreshedAt ?? before.builtAt);
  return ({ key }, { content, fetchedAt }) => {
    const { content: known, missing } = shown.get(key) ?? {};
    if (missing) return fetchedAt < askedAt;
    return known !== undefined && fetchedAt < known.fetchedAt && hashOf(content) !== known.hash;
  };
}
