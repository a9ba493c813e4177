import { effectOf } from '../failures/errors.ts';
import { byKey, hashOf, type Manifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { addUse, type SnippetUses } from '../snippets/file-embeds.ts';
import { type SiteSource, SourceSearch } from '../source/source-search.ts';
import type { BuildLogger } from './inline-snippets.ts';

export function fetcherAfter(
  before: Manifest | undefined,
  settings: Settings,
  logger: BuildLogger,
): SnippetFetcher {
  const shown = byKey(before?.snippets);
  const askedAt = Date.parse(before?.refreshedAt ?? before?.builtAt ?? '');
  return new SnippetFetcher(settings, {
    warn: (line) => logger.warn(line),
    remember: true,
    // A cached answer is too old if the site has shown a newer one since, or that the snippet does not exist.
    isSuperseded({ key }, { content, fetchedAt }) {
      const { content: known, missing } = shown.get(key) ?? {};
      if (missing) return fetchedAt < askedAt;
      return known !== undefined && fetchedAt < known.fetchedAt && hashOf(content) !== known.hash;
    },
  });
}

/** Returns the classes of snippets that are known before Astro bundles; of those that fail, what the last build knew. */
export async function prepareEarly(
  fetcher: SnippetFetcher,
  before: Manifest | undefined,
  sources: SiteSource,
  { params }: Pick<Settings, 'params'>,
): Promise<string[]> {
  const uses: SnippetUses = new Map();
  // What the option adds may depend on the page's language, which is known once the page is rendered.
  const literal = params === undefined ? new SourceSearch(sources).literalRequests() : [];
  for (const request of [...(before?.snippets ?? []), ...literal]) addUse(uses, request, { name: '' });
  const { fetched, failed } = await fetcher.prepare([...uses.values()]);
  const missed = failed.filter(({ error }) => effectOf(error) === 'children');
  const shown = byKey(before?.snippets);
  const kept = missed.map(({ request }) => shown.get(request.key)?.content);
  return [...fetched.values(), ...kept].flatMap((content) => content?.classes ?? []);
}
