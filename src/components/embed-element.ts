import type { AstroGlobal } from 'astro';
import { escapeAttribute } from 'entities/escape';
import {
  definedRequest,
  type ParamsOf,
  type ParamsSchema,
  type SnippetDefinition,
} from '../client/define-snippet.ts';
import type { Params } from '../client/params.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { componentBridge, containerPage } from '../embed/component-bridge.ts';
import { type EmbedAs, type EmbedAttributes, elementName, intendedAttribute } from '../embed/element.ts';
import type { ErrorCode } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';

/** What `<Snippet>` takes: a snippet by its id, or from `defineSnippet`, with the params it is defined to take. */
export type SnippetProps<Schema extends ParamsSchema | undefined = undefined> = {
  /**
   * `html` shows the content, `text` its text. The default is `html` where elements may be, and in files that are not
   * pages; `text` elsewhere, as in `<title>` and in attributes.
   */
  as?: EmbedAs | undefined;
  /** Shows the children where the snippet does not exist, with a warning, instead of failing the build. */
  optional?: boolean | undefined;
} & (
  | {
      /** The snippet's id. */
      id: number | `${number}`;
      of?: never;
      /** Variables for the snippet: one plain JSON object. */
      params?: Params | undefined;
    }
  | ({
      /** What `defineSnippet` returned. */
      of: SnippetDefinition<Schema>;
      id?: never;
    } & (undefined extends ParamsOf<Schema> ? { params?: ParamsOf<Schema> } : { params: ParamsOf<Schema> }))
);

/** What is given, which may be anything. */
type Props = Partial<Record<keyof EmbedAttributes, unknown>> & { of?: SnippetDefinition | undefined };

/** What Astro runs, in the process that loaded the Astro config. */
export type Command = 'dev' | 'build' | 'preview' | 'sync';

// Astro's compiler adds `class`, `data-astro-…` and `server:…`, and leaves `slot`.
const knownProp = /^(?:id|of|params|as|optional|class|slot)$|[-:]/;

export const embedEnd: '</snippet-embed>' = `</${elementName}>`;

/** A promise only if a schema checks the params: awaiting an embed takes longer than rendering it. */
export function embedStart(
  props: Props,
  page: Pick<AstroGlobal, 'isPrerendered' | 'url' | 'routePattern'>,
  command: Command | undefined,
): string | Promise<string> {
  const { id, of, params, as, optional } = props;
  const { pathname } = page.url;
  const path = page.isPrerendered ? pathname : containerPage;
  // Astro's error page shows the error, and opens its place in an editor.
  const refuse = (code: ErrorCode, flaw: string, shown = path) => {
    const { place, loc } =
      componentBridge.find?.({
        id: of === undefined ? String(id ?? '') : undefined,
        page: shown === containerPage ? undefined : shown,
        props: Object.keys(props),
      }) ?? {};
    const where = place === undefined ? shown : `${shown} (${place})`;
    const error = userError(code, `<Snippet> of snippet ${of?.id ?? id} on ${where}: ${flaw}`);
    return Object.assign(error, loc && { loc });
  };
  if (command === undefined) {
    throw refuse('missing-integration', 'the integration is not in the Astro config.', pathname);
  }
  // Astro's Container API does not count as prerendered. `astro dev` checks all that it serves.
  if (!page.isPrerendered && command !== 'dev' && componentBridge.announce === undefined) {
    const flaw = `the route ${page.routePattern} is rendered on demand. Snippets are inlined while the site is built.`;
    throw refuse('on-demand-page', flaw, pathname);
  }
  const unknown = Object.keys(props).find((name) => !knownProp.test(name));
  if (unknown !== undefined) {
    const intended = intendedAttribute(unknown);
    const hint = intended ? ` Did you mean \`${intended}\`?` : '';
    throw refuse('unknown-attribute', `the prop \`${unknown}\` is unknown.${hint}`);
  }
  if (as !== undefined && as !== 'html' && as !== 'text') {
    throw refuse('invalid-as', `\`as\` must be "html" or "text", not ${JSON.stringify(as)}.`);
  }
  if (optional !== undefined && typeof optional !== 'boolean') {
    throw refuse('invalid-optional', `\`optional\` must be true or false, not ${JSON.stringify(optional)}.`);
  }
  const write = ({ id, params }: SnippetRequest) => {
    componentBridge.announce?.(id, params, path);
    let tag = `<${elementName} id="${id}"`;
    if (params) tag += ` params="${escapeAttribute(params)}"`;
    if (as) tag += ` as="${as}"`;
    return optional ? `${tag} optional="">` : `${tag}>`;
  };
  const fail = (error: unknown) => {
    throw error instanceof SnippetError ? refuse(error.code, error.reason) : error;
  };
  if (of !== undefined) return definedRequest(of, params).then(write).catch(fail);
  try {
    return write(createRequest(id, params));
  } catch (error) {
    return fail(error);
  }
}
