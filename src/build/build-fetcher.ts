import { byKey, hashOf, type Manifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import { SnippetFetcher } from '../snippets/fetch-snippets.ts';
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
