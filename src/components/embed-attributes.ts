import { AstroError } from 'astro/errors';
import {
  canonicalParams,
  checkParams,
  parseSnippetId,
  type SnippetDefinition,
  SnippetError,
} from '../client/snippet-input.ts';
import type { EmbedAttributes } from '../embed/element.ts';

interface Props {
  id?: unknown;
  of?: SnippetDefinition | undefined;
  params?: unknown;
  as?: unknown;
}

/** What Astro says of the page: looked at only where something is wrong. */
interface Page {
  isPrerendered: boolean;
  url: URL;
  /** The route that renders it, such as `/blog/[slug]`. */
  routePattern: string;
}

/**
 * The attributes of the element that `<Snippet>` writes: a pure function of its props and the page's kind. A promise
 * only where a schema checks the params: to wait for each embed of a site takes longer than to render it.
 *
 * @throws AstroError for props that no request can carry, and on a page that is rendered on demand: the
 * snippets are put in while the site is built, so there the element would stay empty for ever.
 */
export function embedAttributes(props: Props, page: Page): EmbedAttributes | Promise<EmbedAttributes> {
  checkPlace(props, page);
  const { of } = props;
  try {
    if (of === undefined) return attributesOf(props.id, props.params, props.as);
  } catch (error) {
    throw explain(error, props, page);
  }
  return checkParams(of, props.params)
    .then((params) => attributesOf(of.id, params, props.as))
    .catch((error) => {
      throw explain(error, props, page);
    });
}

function attributesOf(id: unknown, params: unknown, as: unknown): EmbedAttributes {
  return { id: String(parseSnippetId(id)), params: canonicalParams(params), as: as as EmbedAttributes['as'] };
}

function explain(error: unknown, props: Props, { url }: Page): unknown {
  if (!(error instanceof SnippetError)) return error;
  return new AstroError(`<Snippet> of snippet ${nameOf(props)} on ${url.pathname}: ${error.message}`);
}

function nameOf({ of, id }: Props): string {
  return String(of?.id ?? id);
}

function checkPlace(props: Props, { isPrerendered, url, routePattern }: Page): void {
  if (!isPrerendered) {
    throw new AstroError(
      `<Snippet> of snippet ${nameOf(props)} stands on ${url.pathname} (route ${routePattern}), which is rendered on demand. Snippets are put into pages while the site is built.`,
      'Prerender the page with `export const prerender = true`, or ask the service yourself with `SnippetClient` from `astro-snippets/client`.',
    );
  }
  if (props.as !== undefined && props.as !== 'html' && props.as !== 'text') {
    throw new AstroError(
      `<Snippet> on ${url.pathname}: as is "html" or "text", not ${JSON.stringify(props.as)}.`,
    );
  }
}
