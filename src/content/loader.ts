import type { AstroConfig } from 'astro';
import type { Loader } from 'astro/loaders';
import { z } from 'astro/zod';
import {
  canonicalParams,
  checkParams,
  type Params,
  parseSnippetId,
  type SnippetDefinition,
} from '../client/snippet-input.ts';
import { userError } from '../report/user-error.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';
import type { FetchHook } from './fetch-hook.ts';

/** One entry of a collection: a snippet by its id, or as `defineSnippet` returned it, with the params to pass. */
export type SnippetEntry =
  | { id: number; params?: Params | undefined }
  | { of: SnippetDefinition; params?: Params | undefined };

const schema = z.object({
  /** The snippet's content: HTML, under the site's rules for it. */
  content: z.string(),
  /** The snippet's name, where variant A sent it. */
  name: z.string().optional(),
  /** Which of the service's variants it came from. */
  variant: z.enum(['render', 'retrieve']),
});

/**
 * A loader for a content collection of snippets: for content that a frontmatter or an endpoint needs, such as a
 * feed or a meta description. Each entry has `data.content`, and `render(entry)` gives a `<Content />`.
 *
 * Fetched by the integration's own client, under the same rules, when the collection is loaded: at the start of a
 * build, and in `astro dev` when content is refreshed. (What an embed shows is fetched later, and in dev kept up to
 * date.) One entry that fails fails the build, with the report of every other.
 *
 * @param entries by the id they are to have in the collection.
 *
 * @example
 * const snippets = defineCollection({ loader: snippetLoader({ banner: { id: 42 } }) });
 */
export function snippetLoader(entries: Record<string, SnippetEntry>): Loader {
  return {
    name: 'astro-snippets',
    schema,
    async load({ collection, config, store, generateDigest, parseData, logger }) {
      const wanted = await Promise.all(
        Object.entries(entries).map(
          async ([id, entry]) =>
            [id, await want(entry, `${collection} (collection), entry "${id}"`)] as const,
        ),
      );
      const contents = await fetchHook(
        config,
        collection,
      )({
        who: `The collection ${collection} has a snippet`,
        snippets: wanted.map(([, snippet]) => snippet),
        warn: (line) => logger.warn(line),
      });
      for (const [id, snippet] of wanted) {
        const got = contents.get(snippet);
        if (got === undefined) continue;
        const { html: content, variant, name } = got;
        const data = await parseData({
          id,
          data: { content, variant, ...(name === undefined ? {} : { name }) },
        });
        // An entry whose digest is the same is not written again, so nothing that depends on it is rebuilt.
        store.set({ id, data, digest: generateDigest(data), rendered: { html: content } });
      }
      const known = new Set(Object.keys(entries));
      for (const id of store.keys()) if (!known.has(id)) store.delete(id);
      logger.info(
        `${wanted.length} ${wanted.length === 1 ? 'snippet' : 'snippets'} in the collection ${collection}`,
      );
    },
  };
}

async function want(entry: SnippetEntry, place: string): Promise<WantedSnippet> {
  const params = 'of' in entry ? await checkParams(entry.of, entry.params) : entry.params;
  const id = parseSnippetId('of' in entry ? entry.of.id : entry.id);
  return {
    key: place,
    id,
    params: canonicalParams(params),
    pages: new Set([place]),
    asHtml: true,
    pagesWithoutFallback: new Set([place]),
  };
}

/** The key and the addresses are the integration's: a loader could not have them without holding the key. */
function fetchHook({ integrations }: AstroConfig, collection: string): FetchHook {
  const hook = integrations.find(({ name }) => name === 'astro-snippets')?.hooks['astro-snippets:fetch'];
  if (hook !== undefined) return hook;
  throw userError(
    `The collection ${collection} is loaded by snippetLoader, but the integration is not there.`,
    'Add snippets() to the integrations of the Astro config.',
  );
}
