import { escapeAttribute } from 'entities/escape';
import { SnippetError } from '../client/snippet-error.ts';
import {
  createRequest,
  definedRequest,
  type SnippetDefinition,
  type SnippetRequest,
} from '../client/snippet-request.ts';
import {
  containerPage,
  type EmbedAttributes,
  elementName,
  integration,
  intendedName,
} from '../embed/element.ts';
import { type ErrorCode, type UserError, userError } from '../failures/errors.ts';

interface Props {
  id?: unknown;
  of?: SnippetDefinition | undefined;
  params?: unknown;
  as?: unknown;
  optional?: unknown;
}

/** What Astro says about the page. */
interface Page {
  isPrerendered: boolean;
  url: URL;
  /** The route that renders it, such as `/blog/[slug]`. */
  routePattern: string;
  /** @throws where no visitor asked for the page. */
  readonly clientAddress: string;
}

/** What Astro runs, in the process that loaded the Astro config. */
export type Command = 'dev' | 'build' | 'preview' | 'sync';

// Astro's compiler adds `class`, `data-astro-…` and `server:…`, and leaves `slot`.
const knownProp = /^(?:id|of|params|as|optional|class|slot)$|[-:]/;

export const embedEnd = `</${elementName}>`;

/**
 * The start tag of the element that `<Snippet>` writes. A pure function of the props and the kind of page. Returns a
 * promise only if a schema checks the params, because awaiting each embed takes longer than rendering it.
 *
 * @param command what the page is rendered or built for; `undefined` if the integration is not in the Astro config.
 * @throws AstroError for invalid props, and where no snippet would be inlined: without the integration, and on a page
 * that is rendered on demand.
 */
export function embedStart(props: Props, page: Page, command: Command | undefined): string | Promise<string> {
  if (command === undefined) {
    throw refusal('missing-integration', props, page, ', but the integration is not in the Astro config.');
  }
  if (!page.isPrerendered && !isInContainer(page, command)) {
    const flaw = ', which is rendered on demand. Snippets are inlined while the site is built.';
    throw refusal('on-demand-page', props, page, flaw);
  }
  const { id, of, params, as, optional } = props;
  const unknown = Object.keys(props).find((name) => !knownProp.test(name));
  if (unknown !== undefined) {
    const intended = intendedName(unknown);
    const flaw = ` has the unknown prop \`${unknown}\`.${intended === undefined ? '' : ` Did you mean \`${intended}\`?`}`;
    throw refusal('unknown-attribute', props, page, flaw);
  }
  if (as !== undefined && as !== 'html' && as !== 'text') {
    const flaw = `: \`as\` must be "html" or "text", not ${JSON.stringify(as)}.`;
    throw refusal('invalid-as', props, page, flaw);
  }
  if (optional !== undefined && typeof optional !== 'boolean') {
    const flaw = `: \`optional\` must be true or false, not ${JSON.stringify(optional)}.`;
    throw refusal('invalid-optional', props, page, flaw);
  }
  const more = { as, optional: optional === true ? '' : undefined };
  const explain = (error: unknown) =>
    error instanceof SnippetError ? refusal(error.code, props, page, `: ${error.reason}`) : error;
  try {
    if (of === undefined) return startTag(createRequest(id, params), more, page);
  } catch (error) {
    throw explain(error);
  }
  return definedRequest(of, params)
    .then((request) => startTag(request, more, page))
    .catch((error) => {
      throw explain(error);
    });
}

function startTag(
  { id, params }: SnippetRequest,
  more: Pick<EmbedAttributes, 'as' | 'optional'>,
  page: Page,
): string {
  integration.announce?.(id, params, pathOf(page));
  const attributes: EmbedAttributes = { id: String(id), params, ...more };
  let tag = `<${elementName}`;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) tag += ` ${name}="${escapeAttribute(value)}"`;
  }
  return `${tag}>`;
}

/** Of a page that has been checked. */
function pathOf({ isPrerendered, url }: Page): string {
  return isPrerendered ? url.pathname : containerPage;
}

/** The error for a `<Snippet>`, with its place if that is known. Astro's error page shows it, and opens it in an editor. */
function refusal(code: ErrorCode, props: Props, page: Page, flaw: string): UserError {
  const { of, id } = props;
  const isPageRefused = code === 'missing-integration' || code === 'on-demand-page';
  const path = isPageRefused ? page.url.pathname : pathOf(page);
  const { place, loc } =
    integration.find?.({
      id: of === undefined ? String(id ?? '') : undefined,
      page: path === containerPage ? undefined : path,
      props: Object.keys(props),
    }) ?? {};
  const route = code === 'on-demand-page' ? `route ${page.routePattern}` : undefined;
  const details = [route, place].filter((detail) => detail !== undefined).join(', ');
  const message = `<Snippet> of snippet ${of?.id ?? id} ${isPageRefused ? 'is on' : 'on'} ${path}${details && ` (${details})`}${flaw}`;
  return Object.assign(userError(code, message), loc && { loc });
}

/**
 * Whether Astro's Container API renders a page that does not count as prerendered: its pages never do. A build renders
 * nothing on demand, and `astro dev` checks all that it serves.
 */
function isInContainer(page: Page, command: Command): boolean {
  if (command !== 'dev') return integration.announce !== undefined;
  try {
    return page.clientAddress === '';
  } catch {
    return true;
  }
}
