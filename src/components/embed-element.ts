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
  findComponent,
  listener,
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
    const what = `of snippet ${nameOf(props)} is on`;
    const flaw = ', but the integration is not in the Astro config.';
    throw refusal('missing-integration', { props, path: page.url.pathname, what }, flaw);
  }
  checkPage(props, page, command);
  const { of } = props;
  const more = { as: checkAs(props, page), optional: checkOptional(props, page) };
  try {
    if (of === undefined) return startTag(createRequest(props.id, props.params), more, page);
  } catch (error) {
    throw explain(error, props, page);
  }
  return definedRequest(of, props.params)
    .then((request) => startTag(request, more, page))
    .catch((error) => {
      throw explain(error, props, page);
    });
}

function startTag(
  { id, params }: SnippetRequest,
  more: Pick<EmbedAttributes, 'as' | 'optional'>,
  page: Page,
): string {
  listener()?.({ id, params, pathname: pathOf(page) });
  const attributes: EmbedAttributes = { id: String(id), params, ...more };
  let tag = `<${elementName}`;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) tag += ` ${name}="${escapeAttribute(value)}"`;
  }
  return `${tag}>`;
}

function explain(error: unknown, props: Props, page: Page): unknown {
  if (!(error instanceof SnippetError)) return error;
  return refusal(
    error.code,
    { props, path: pathOf(page), what: `of snippet ${nameOf(props)} on` },
    `: ${error.reason}`,
  );
}

function nameOf({ of, id }: Props): string {
  return String(of?.id ?? id);
}

/** Of a page that has been checked. */
function pathOf({ isPrerendered, url }: Page): string {
  return isPrerendered ? url.pathname : containerPage;
}

/** The error for a `<Snippet>`, with its place if that is known. Astro's error page shows it, and opens it in an editor. */
function refusal(
  code: ErrorCode,
  { props, path, what, route }: { props: Props; path: string; what: string; route?: string },
  flaw: string,
): UserError {
  const { place, loc } =
    findComponent({
      id: props.of === undefined ? String(props.id ?? '') : undefined,
      page: path === containerPage ? undefined : path,
      props: Object.keys(props).sort(),
    }) ?? {};
  const details = [route, place].filter((detail) => detail !== undefined).join(', ');
  const message = `<Snippet> ${what} ${path}${details && ` (${details})`}${flaw}`;
  return Object.assign(userError(code, message), loc && { loc });
}

function checkPage(props: Props, page: Page, command: Command): void {
  if (page.isPrerendered || isInContainer(page, command)) return;
  throw refusal(
    'on-demand-page',
    {
      props,
      path: page.url.pathname,
      what: `of snippet ${nameOf(props)} is on`,
      route: `route ${page.routePattern}`,
    },
    ', which is rendered on demand. Snippets are inlined while the site is built.',
  );
}

/**
 * Whether Astro's Container API renders a page that does not count as prerendered: its pages never do. A build renders
 * nothing on demand, and `astro dev` checks all that it serves.
 */
function isInContainer(page: Page, command: Command): boolean {
  if (command !== 'dev') return listener() !== undefined;
  try {
    return page.clientAddress === '';
  } catch {
    return true;
  }
}

function checkAs(props: Props, page: Page): string | undefined {
  const { as } = props;
  if (as === undefined || as === 'html' || as === 'text') return as;
  const flaw = `: \`as\` must be "html" or "text", not ${JSON.stringify(as)}.`;
  throw refusal('invalid-as', { props, path: pathOf(page), what: 'on' }, flaw);
}

function checkOptional(props: Props, page: Page): string | undefined {
  const { optional } = props;
  if (optional === true) return '';
  if (optional === undefined || optional === false) return undefined;
  const flaw = `: \`optional\` must be true or false, not ${JSON.stringify(optional)}.`;
  throw refusal('invalid-optional', { props, path: pathOf(page), what: 'on' }, flaw);
}
