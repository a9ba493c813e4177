import { AstroError } from 'astro/errors';
import { escapeAttribute } from 'entities/escape';
import {
  canonicalParams,
  checkParams,
  parseSnippetId,
  type SnippetDefinition,
  SnippetError,
} from '../client/snippet-input.ts';
import { type EmbedAttributes, elementName } from '../embed/element.ts';

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

export const embedEnd = `</${elementName}>`;

/**
 * The start tag of the element that `<Snippet>` writes: a pure function of its props and the page's kind. A promise
 * only where a schema checks the params: to wait for each embed of a site takes longer than to render it.
 *
 * @throws AstroError for props that no request can carry, and on a page that is rendered on demand: the
 * snippets are put in while the site is built, so there the element would stay empty for ever.
 */
export function embedStart(props: Props, page: Page): string | Promise<string> {
  checkPlace(props, page);
  const { of } = props;
  try {
    if (of === undefined) return startTag(props.id, props.params, props.as);
  } catch (error) {
    throw explain(error, props, page);
  }
  return checkParams(of, props.params)
    .then((params) => startTag(of.id, params, props.as))
    .catch((error) => {
      throw explain(error, props, page);
    });
}

function startTag(id: unknown, params: unknown, as: unknown): string {
  const attributes: EmbedAttributes = {
    id: String(parseSnippetId(id)),
    params: canonicalParams(params),
    as: as === undefined ? undefined : String(as),
  };
  let tag = `<${elementName}`;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) tag += ` ${name}="${escapeAttribute(value)}"`;
  }
  return `${tag}>`;
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
