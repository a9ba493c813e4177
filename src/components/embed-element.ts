import { escapeAttribute } from 'entities/escape';
import { checkParams, type SnippetDefinition } from '../client/define-snippet.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { announce } from '../embed/announcement.ts';
import { type EmbedAttributes, elementName } from '../embed/element.ts';
import { userError } from '../failures/user-error.ts';

interface Props {
  id?: unknown;
  of?: SnippetDefinition | undefined;
  params?: unknown;
  as?: unknown;
}

/** What Astro says about the page. */
interface Page {
  isPrerendered: boolean;
  url: URL;
  /** The route that renders it, such as `/blog/[slug]`. */
  routePattern: string;
}

export const embedEnd = `</${elementName}>`;

/**
 * The start tag of the element that `<Snippet>` writes. A pure function of the props and the kind of page. Returns a
 * promise only if a schema checks the params, because awaiting each embed takes longer than rendering it.
 *
 * @param isIntegrated whether the integration is in the Astro config.
 * @throws AstroError for invalid props, and where no snippet would be inlined: without the integration, and on a page
 * that is rendered on demand.
 */
export function embedStart(props: Props, page: Page, isIntegrated: boolean): string | Promise<string> {
  if (!isIntegrated) throw withoutIntegration(props, page);
  checkPage(props, page);
  const { of, as } = props;
  const attribute = checkAs(as, page);
  try {
    if (of === undefined) return startTag(createRequest(props.id, props.params), attribute, page);
  } catch (error) {
    throw explain(error, props, page);
  }
  return checkParams(of, props.params)
    .then((params) => startTag(createRequest(of.id, params), attribute, page))
    .catch((error) => {
      throw explain(error, props, page);
    });
}

function startTag({ id, params }: SnippetRequest, as: string | undefined, { url }: Page): string {
  announce({ id, params, pathname: url.pathname });
  const attributes: EmbedAttributes = { id: String(id), params, as };
  let tag = `<${elementName}`;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) tag += ` ${name}="${escapeAttribute(value)}"`;
  }
  return `${tag}>`;
}

function explain(error: unknown, props: Props, { url }: Page): unknown {
  if (!(error instanceof SnippetError) || error.code === 'aborted' || error.code === 'closed') return error;
  return userError(error.code, `<Snippet> of snippet ${nameOf(props)} on ${url.pathname}: ${error.reason}`);
}

function nameOf({ of, id }: Props): string {
  return String(of?.id ?? id);
}

function withoutIntegration(props: Props, { url }: Page): Error {
  return userError(
    'missing-integration',
    `<Snippet> of snippet ${nameOf(props)} is on ${url.pathname}, but the integration is not in the Astro config.`,
  );
}

function checkPage(props: Props, { isPrerendered, url, routePattern }: Page): void {
  if (isPrerendered) return;
  throw userError(
    'on-demand-page',
    `<Snippet> of snippet ${nameOf(props)} is on ${url.pathname} (route ${routePattern}), which is rendered on demand. Snippets are inlined while the site is built.`,
  );
}

function checkAs(as: unknown, { url }: Page): string | undefined {
  if (as === undefined || as === 'html' || as === 'text') return as;
  throw userError(
    'invalid-as',
    `<Snippet> on ${url.pathname}: \`as\` must be "html" or "text", not ${JSON.stringify(as)}.`,
  );
}
