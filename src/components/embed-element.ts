import { escapeAttribute } from 'entities/escape';
import { SnippetError } from '../client/snippet-error.ts';
import {
  createRequest,
  definedRequest,
  type SnippetDefinition,
  type SnippetRequest,
} from '../client/snippet-request.ts';
import { containerPage, type EmbedAttributes, elementName, listener } from '../embed/element.ts';
import { type UserError, userError } from '../failures/errors.ts';
import { readSource, sourceProp } from './source-prop.ts';

interface Props {
  id?: unknown;
  of?: SnippetDefinition | undefined;
  params?: unknown;
  as?: unknown;
  optional?: unknown;
  [sourceProp]?: unknown;
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
  if (command === undefined) throw withoutIntegration(props, page);
  checkPage(props, page, command);
  const { of, as, optional } = props;
  const more = { as: checkAs(as, props, page), optional: checkOptional(optional, props, page) };
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
  const message = `<Snippet> of snippet ${nameOf(props)} on ${placeOf(props, pathOf(page))}: ${error.reason}`;
  return located(userError(error.code, message), props);
}

function nameOf({ of, id }: Props): string {
  return String(of?.id ?? id);
}

function withoutIntegration(props: Props, page: Page): UserError {
  const message = `<Snippet> of snippet ${nameOf(props)} is on ${placeOf(props, page.url.pathname)}, but the integration is not in the Astro config.`;
  return located(userError('missing-integration', message), props);
}

/** Of a page that has been checked. */
function pathOf({ isPrerendered, url }: Page): string {
  return isPrerendered ? url.pathname : containerPage;
}

/** The page and, if it is known, the file and line. */
function placeOf(props: Props, path: string, ...details: string[]): string {
  const { file, line } = readSource(props[sourceProp]) ?? {};
  if (file !== undefined) details.push(line === undefined ? file : `${file}:${line}`);
  return details.length === 0 ? path : `${path} (${details.join(', ')})`;
}

/** Astro's error page shows this place, and opens it in an editor. */
function located(error: UserError, props: Props): UserError {
  const loc = readSource(props[sourceProp]);
  return loc === undefined ? error : Object.assign(error, { loc });
}

function checkPage(props: Props, page: Page, command: Command): void {
  if (page.isPrerendered || isInContainer(page, command)) return;
  const place = placeOf(props, page.url.pathname, `route ${page.routePattern}`);
  const message = `<Snippet> of snippet ${nameOf(props)} is on ${place}, which is rendered on demand. Snippets are inlined while the site is built.`;
  throw located(userError('on-demand-page', message), props);
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

function checkAs(as: unknown, props: Props, page: Page): string | undefined {
  if (as === undefined || as === 'html' || as === 'text') return as;
  const message = `<Snippet> on ${placeOf(props, pathOf(page))}: \`as\` must be "html" or "text", not ${JSON.stringify(as)}.`;
  throw located(userError('invalid-as', message), props);
}

function checkOptional(optional: unknown, props: Props, page: Page): string | undefined {
  if (optional === true) return '';
  if (optional === undefined || optional === false) return undefined;
  const message = `<Snippet> on ${placeOf(props, pathOf(page))}: \`optional\` must be true or false, not ${JSON.stringify(optional)}.`;
  throw located(userError('invalid-optional', message), props);
}
