import type { AstroGlobal } from 'astro';
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

type Page = Pick<AstroGlobal, 'isPrerendered' | 'url' | 'routePattern'>;

/** What Astro runs, in the process that loaded the Astro config. */
export type Command = 'dev' | 'build' | 'preview' | 'sync';

// Astro's compiler adds `class`, `data-astro-…` and `server:…`, and leaves `slot`.
const knownProp = /^(?:id|of|params|as|optional|class|slot)$|[-:]/;

export const embedEnd = `</${elementName}>`;

/**
 * The start tag of the element that `<Snippet>` writes. A promise only if a schema checks the params, because awaiting
 * each embed takes longer than rendering it.
 *
 * @param command `undefined` if the integration is not in the Astro config.
 */
export function embedStart(props: Props, page: Page, command: Command | undefined): string | Promise<string> {
  const { pathname } = page.url;
  const refuse = (code: ErrorCode, flaw: string, path = pathOf(page)) => refusal(code, flaw, props, path);
  if (command === undefined) {
    throw refuse('missing-integration', 'the integration is not in the Astro config.', pathname);
  }
  // Pages of Astro's Container API do not count as prerendered. `astro dev` checks all that it serves.
  if (!page.isPrerendered && command !== 'dev' && integration.announce === undefined) {
    const flaw = `the route ${page.routePattern} is rendered on demand. Snippets are inlined while the site is built.`;
    throw refuse('on-demand-page', flaw, pathname);
  }
  const { of, as, optional } = props;
  const unknown = Object.keys(props).find((name) => !knownProp.test(name));
  if (unknown !== undefined) {
    const intended = intendedName(unknown);
    const flaw = `the prop \`${unknown}\` is unknown.${intended === undefined ? '' : ` Did you mean \`${intended}\`?`}`;
    throw refuse('unknown-attribute', flaw);
  }
  if (as !== undefined && as !== 'html' && as !== 'text') {
    throw refuse('invalid-as', `\`as\` must be "html" or "text", not ${JSON.stringify(as)}.`);
  }
  if (optional !== undefined && typeof optional !== 'boolean') {
    const flaw = `\`optional\` must be true or false, not ${JSON.stringify(optional)}.`;
    throw refuse('invalid-optional', flaw);
  }
  const write = ({ id, params }: SnippetRequest) => {
    integration.announce?.(id, params, pathOf(page));
    return startTag({ id: String(id), params, as, optional: optional ? '' : undefined });
  };
  const explain = (error: unknown) =>
    error instanceof SnippetError ? refuse(error.code, error.reason) : error;
  try {
    if (of === undefined) return write(createRequest(props.id, props.params));
  } catch (error) {
    throw explain(error);
  }
  return definedRequest(of, props.params)
    .then(write)
    .catch((error) => {
      throw explain(error);
    });
}

function startTag(attributes: EmbedAttributes): string {
  let tag = `<${elementName}`;
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) tag += ` ${name}="${escapeAttribute(value)}"`;
  }
  return `${tag}>`;
}

function pathOf({ isPrerendered, url }: Page): string {
  return isPrerendered ? url.pathname : containerPage;
}

/** The error for a `<Snippet>`, with its place if that is known. Astro's error page shows it, and opens it in an editor. */
function refusal(code: ErrorCode, flaw: string, props: Props, path: string): UserError {
  const { of, id } = props;
  const { place, loc } =
    integration.find?.({
      id: of === undefined ? String(id ?? '') : undefined,
      page: path === containerPage ? undefined : path,
      props: Object.keys(props),
    }) ?? {};
  const where = place === undefined ? path : `${path} (${place})`;
  const error = userError(code, `<Snippet> of snippet ${of?.id ?? id} on ${where}: ${flaw}`);
  return Object.assign(error, loc && { loc });
}
