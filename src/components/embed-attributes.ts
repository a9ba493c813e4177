import { AstroError } from 'astro/errors';
import {
  canonicalParams,
  checkParams,
  parseSnippetId,
  type SnippetDefinition,
  SnippetError,
} from '../client/snippet-input.ts';
import type { EmbedAttributes } from '../embed/element.ts';

interface Place {
  isPrerendered: boolean;
  /** The path of the page's address. */
  page: string;
  /** The route that renders it, such as `/blog/[slug]`. */
  route: string;
}

/**
 * The attributes of the element that `<Snippet>` writes: a pure function of its props and the page's kind.
 *
 * @throws AstroError for props that no request can carry, and on a page that is rendered on demand: the
 * snippets are put in while the site is built, so there the element would stay empty for ever.
 */
export async function embedAttributes(
  props: { id?: unknown; of?: SnippetDefinition | undefined; params?: unknown; as?: unknown },
  { isPrerendered, page, route }: Place,
): Promise<EmbedAttributes> {
  const id = props.of?.id ?? props.id;
  if (!isPrerendered) {
    throw new AstroError(
      `<Snippet> of snippet ${String(id)} stands on ${page} (route ${route}), which is rendered on demand. Snippets are put into pages while the site is built.`,
      'Prerender the page with `export const prerender = true`, or ask the service yourself with `SnippetClient` from `astro-snippets/client`.',
    );
  }
  if (props.as !== undefined && props.as !== 'html' && props.as !== 'text') {
    throw new AstroError(`<Snippet> on ${page}: as is "html" or "text", not ${JSON.stringify(props.as)}.`);
  }
  try {
    const params = props.of === undefined ? props.params : await checkParams(props.of, props.params);
    return {
      id: String(parseSnippetId(id)),
      params: canonicalParams(params),
      as: props.as,
    };
  } catch (error) {
    if (!(error instanceof SnippetError)) throw error;
    throw new AstroError(`<Snippet> of snippet ${String(id)} on ${page}: ${error.message}`);
  }
}
