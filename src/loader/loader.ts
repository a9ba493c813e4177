import type { Loader } from 'astro/loaders';
import { z } from 'astro/zod';
import { definedRequest, type SnippetDefinition } from '../client/define-snippet.ts';
import type { Params } from '../client/params.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { userError } from '../failures/errors.ts';
import { entryName } from '../failures/places.ts';
import type { FetchedSnippet, FetchHook } from '../snippets/snippet-fetcher.ts';
import { cleanLines } from '../text/clean-text.ts';
import { count } from '../text/format.ts';

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

const entrySchema: z.ZodObject<
  {
    content: z.ZodString;
    text: z.ZodString;
    name: z.ZodOptional<z.ZodString>;
    variant: z.ZodOptional<
      z.ZodEnum<{
        retrieve: 'retrieve';
        render: 'render';
      }>
    >;
  },
  z.core.$strip
> = z.object({
  /** HTML, after the site's rules were applied. Its images have their original URLs. */
  content: z.string(),
  /** The content without tags, with its entities decoded. */
  text: z.string(),
  /** Only of a retrieved snippet. */
  name: z.string().optional(),
  /** Where it came from; absent without content, with `missingKey: 'children'`. */
  variant: z.enum(['render', 'retrieve']).optional(),
});

/**
 * A loader for a collection of snippets, for frontmatter and endpoints, such as a feed. Each entry has `data.content`
 * (HTML) and `data.text`; `render(entry)` returns a `<Content />` for pages, with the site's own copies of images.
 *
 * They are fetched when the collection is loaded: at the start of a build, and in `astro dev` when content is refreshed.
 * Entries that fail fail the build, with one report.
 *
 * @param entries by their ids in the collection.
 *
 * @example
 * const snippets = defineCollection({ loader: snippetLoader({ banner: { id: 42 } }) });
 */
export function snippetLoader(
  entries: Record<string, SnippetEntry>,
): Loader & { schema: typeof entrySchema } {
  return {
    name: 'astro-snippets',
    schema: entrySchema,
    async load({ collection, config, store, generateDigest, parseData, logger }) {
      const requests = new Map<string, SnippetRequest>();
      for (const [id, entry] of Object.entries(entries)) {
        requests.set(id, await entryRequest(entry, entryName({ collection, entry: id })));
      }
      // The integration fetches, since a loader must not have the key.
      const { hooks } = config.integrations.find(({ name }) => name === 'astro-snippets') ?? {};
      const fetchAll = hooks?.['astro-snippets:fetch'];
      if (!fetchAll) {
        throw userError(
          'missing-integration',
          `The collection ${collection} uses snippetLoader, but the integration is not in the Astro config.`,
        );
      }
      const snippets = await fetchAll({ collection, entries: requests });
      for (const [id, request] of requests) {
        // Without a key and with `missingKey: 'children'`, nothing was fetched.
        const snippet: Partial<FetchedSnippet> = snippets.get(request.key) ?? {};
        // Data may go into a feed, where a root-relative URL of an image means nothing.
        const { html = '', htmlElsewhere: content = html, text = '', variant, name } = snippet;
        const data = await parseData({ id, data: { content, text, variant, name } });
        // With the same digest, nothing that depends on the entry is rebuilt.
        store.set({ id, data, digest: generateDigest({ data, html }), rendered: { html } });
      }
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
