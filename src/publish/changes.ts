import { writeFailureReport } from '../report/failure-report.ts';
import { userError } from '../report/user-error.ts';
import type { SnippetSource, SourcedSnippet } from '../snippet-source.ts';
import { failuresOf } from '../wanted/failures.ts';
import { fetchSnippets } from '../wanted/fetch-snippets.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';
import { hashOf, type Manifest } from './manifest.ts';

/** A snippet whose content is not what the site shows. */
export interface ChangedSnippet {
  id: number;
  params: string | undefined;
  pages: string[];
}

export interface Changes {
  /** The contents of all snippets of the manifest, in its order. */
  contents: SourcedSnippet[];
  changed: ChangedSnippet[];
}

/**
 * Asks the service for every snippet of the manifest, and says which have changed and where they are.
 *
 * @throws AstroError with the report of a build, when there is a snippet that cannot be had.
 */
export async function findChanges(
  manifest: Manifest,
  client: SnippetSource,
  signal = new AbortController().signal,
): Promise<Changes> {
  const wanted = manifest.snippets.map(({ id, params }, index): WantedSnippet => {
    const pages = new Set(
      manifest.pages
        .filter(({ embeds }) => embeds.some(({ snippet }) => snippet === index))
        .map(({ name }) => name),
    );
    return { key: String(index), id, params, pages, pagesWithoutFallback: pages };
  });
  const fetched = await fetchSnippets(client, wanted, signal, () => {});
  const failures = failuresOf(fetched, []);
  if (failures !== undefined) {
    const { message, hint } = writeFailureReport(failures);
    throw userError(message, hint);
  }
  const contents = wanted.map((snippet) => fetched.contents.get(snippet) as SourcedSnippet);
  const hashes = contents.map(({ content }) => hashOf(content));
  const changed = wanted.flatMap(({ id, params }, index) => {
    const pages = manifest.pages
      .filter(({ embeds }) =>
        embeds.some((embed) => embed.snippet === index && embed.content !== hashes[index]),
      )
      .map(({ name }) => name);
    return pages.length === 0 ? [] : [{ id, params, pages }];
  });
  return { contents, changed };
}
