import type { AstroConfig } from 'astro';
import type { Loader, LoaderContext } from 'astro/loaders';
import { z } from 'astro/zod';
import { definedRequest, type SnippetDefinition } from '../client/define-snippet.ts';
import type { Params } from '../client/params.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { userError } from '../failures/errors.ts';
import { entryName, listPlaces } from '../failures/places.ts';
import type { FetchedSnippet, FetchedSnippets, FetchHook } from '../snippets/snippet-fetcher.ts';
import { cleanLines } from '../text/clean-text.ts';
import { count } from '../text/format.ts';
import { containsKnownKey } from '../text/known-keys.ts';

declare global {
  namespace Astro {
    interface IntegrationHooks {
      'astro-snippets:fetch'?: FetchHook;
    }
  }
}

/** A snippet by its id, or from `defineSnippet`, with the params to pass. */
export type SnippetEntry =
  | { id: number; params?: Params | undefined }
  | { of: SnippetDefinition; params?: Params | undefined };

/** The schema of an entry's `data`. */
type EntrySchema = z.ZodObject<{
  /** HTML, after the site's rules were applied. Its images have their original URLs. */
  content: z.ZodString;
  /** The content without tags, with its entities decoded. */
  text: z.ZodString;
  /** The snippet's name. Only of a retrieved snippet. */
  name: z.ZodOptional<z.ZodString>;
  /** Which endpoint sent the content; absent without content, with `missingKey: 'children'`. */
  variant: z.ZodOptional<z.ZodEnum<{ render: 'render'; retrieve: 'retrieve' }>>;
}>;

const entrySchema: EntrySchema = z.object({
  content: z.string(),
  text: z.string(),
  name: z.string().optional(),
  variant: z.enum(['render', 'retrieve']).optional(),
});

/**
 * A loader for a collection of snippets, for frontmatter and endpoints, such as a feed. Each entry has `data.content`
 * (HTML) and `data.text`; `render(entry)` returns a `<Content />` for pages, with the site's own copies of images.
 *
 * The snippets are fetched when the collection is loaded: at the start of a build, and in `astro dev` when content is
 * refreshed. Entries that fail fail the build, with one report.
 *
 * @param entries by their ids in the collection.
 * @throws UserError while the collection is loaded: for an id or params that are not valid, with the entry's name, and
 * without the integration.
 *
 * @example
 * const snippets = defineCollection({ loader: snippetLoader({ banner: { id: 42 } }) });
 */
export function snippetLoader(entries: Record<string, SnippetEntry>): Loader & { schema: EntrySchema } {
  return {
    name: 'astro-snippets',
    schema: entrySchema,
    async load(context) {
      const { collection, config, store, logger } = context;
      const requests = new Map<string, SnippetRequest>();
      for (const [id, entry] of Object.entries(entries)) {
        requests.set(id, await entryRequest(entry, entryName({ collection, entry: id })));
      }

      const fetchEntries = fetchHookOf(config, collection);
      const snippets = await fetchEntries({ collection, entries: requests });
      refuseContentsWithKey(collection, requests, snippets);
      for (const [id, request] of requests) await storeEntry(context, id, snippets.get(request.key));
      for (const id of store.keys()) if (!requests.has(id)) store.delete(id);
      logger.info(cleanLines(`${count(requests.size, 'snippet')} in the collection ${collection}`));
    },
  };
}

async function entryRequest(entry: SnippetEntry, place: string) {
  try {
    if ('of' in entry) return await definedRequest(entry.of, entry.params);
    return createRequest(entry.id, entry.params);
  } catch (error) {
    if (!(error instanceof SnippetError)) throw error;
    throw userError(error.code, `${place}: ${error.message}`);
  }
}

/** Refuses snippets that contain the API key before they are in Astro's data store, which is a cache on the disk. */
function refuseContentsWithKey(
  collection: string,
  requests: ReadonlyMap<string, SnippetRequest>,
  snippets: FetchedSnippets,
) {
  const withKey = [...requests].filter(([, { key }]) => {
    const { html, htmlElsewhere, text, name } = snippets.get(key) ?? {};
    return [html, htmlElsewhere, text, name].some((value) => containsKnownKey(value ?? ''));
  });
  if (withKey.length === 0) return;
  const entries = withKey.map(([entry, { id }]) => `${entryName({ collection, entry })} (snippet ${id})`);
  throw userError('published-key', `The API key was found in ${listPlaces(entries)}.`);
}

/** Returns the integration's hook that fetches snippets: a loader gets no API key to fetch them itself. */
function fetchHookOf({ integrations }: AstroConfig, collection: string): FetchHook {
  const { hooks } = integrations.find(({ name }) => name === 'astro-snippets') ?? {};
  const fetchEntries = hooks?.['astro-snippets:fetch'];
  if (fetchEntries) return fetchEntries;
  throw userError(
    'missing-integration',
    `The collection ${collection} uses snippetLoader, but the integration is not in the Astro config.`,
  );
}

/** @param snippet absent if nothing was fetched: without an API key, and with `missingKey: 'children'`. */
async function storeEntry(
  { store, parseData, generateDigest }: LoaderContext,
  id: string,
  snippet: Partial<FetchedSnippet> = {},
) {
  // The content of an entry may go into a feed, where a root-relative URL of an image means nothing.
  const { html = '', htmlElsewhere: content = html, text = '', variant, name } = snippet;
  const data = await parseData({ id, data: { content, text, variant, name } });
  // Astro rebuilds what depends on an entry only if the digest changes, so the rendered HTML is part of it.
  const digest = generateDigest({ data, html });
  store.set({ id, data, digest, rendered: { html } });
}
