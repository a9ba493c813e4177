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

type Props = Partial<Record<keyof EmbedAttributes, unknown>> & { of?: SnippetDefinition | undefined };

type Page = Pick<AstroGlobal, 'isPrerendered' | 'url' | 'routePattern'>;

/** What Astro runs, in the process that loaded the Astro config. */
export type Command = 'dev' | 'build' | 'preview' | 'sync';

// Astro's compiler adds `class`, `data-astro-…` and `server:…`, and leaves `slot`.
const knownProp = /^(?:id|of|params|as|optional|class|slot)$|[-:]/;

export const embedEnd = `</${elementName}>`;

/** A promise only if a schema checks the params, because awaiting each embed takes longer than rendering it. */
export function embedStart(props: Props, page: Page, command: Command | undefined): string | Promise<string> {
  const { of, as, optional } = props;
  const { pathname } = page.url;
  const path = page.isPrerendered ? pathname : containerPage;
  // Astro's error page shows the error, and opens its place in an editor.
  const refuse = (code: ErrorCode, flaw: string, shownPath = path): UserError => {
    const { place, loc } =
      integration.find?.({
        id: of === undefined ? String(props.id ?? '') : undefined,
        page: shownPath === containerPage ? undefined : shownPath,
        props: Object.keys(props),
      }) ?? {};
    const where = place === undefined ? shownPath : `${shownPath} (${place})`;
    const error = userError(code, `<Snippet> of snippet ${of?.id ?? props.id} on ${where}: ${flaw}`);
    return Object.assign(error, loc && { loc });
  };
  if (command === undefined) {
    throw refuse('missing-integration', 'the integration is not in the Astro config.', pathname);
  }
  // Pages of Astro's Container API do not count as prerendered. `astro dev` checks all that it serves.
  if (!page.isPrerendered && command !== 'dev' && integration.announce === undefined) {
    const flaw = `the route ${page.routePattern} is rendered on demand. Snippets are inlined while the site is built.`;
    throw refuse('on-demand-page', flaw, pathname);
  }
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
    integration.announce?.(id, params, path);
    const attributes: EmbedAttributes = { id: String(id), params, as, optional: optional ? '' : undefined };
    let tag = `<${elementName}`;
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) tag += ` ${name}="${escapeAttribute(value)}"`;
    }
    return `${tag}>`;
  };
  const fail = (error: unknown): never => {
    throw error instanceof SnippetError ? refuse(error.code, error.reason) : error;
  };
  if (of !== undefined) return definedRequest(of, props.params).then(write).catch(fail);
  try {
    return write(createRequest(props.id, props.params));
  } catch (error) {
    return fail(error);
  }
}
