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
import { type ComponentBridge, containerPage, findBridge } from '../embed/component-bridge.ts';
import { type EmbedAs, type EmbedAttributes, elementName, intendedAttribute } from '../embed/element.ts';
import { foreignAdvice, isForeignAttribute } from '../embed/foreign-attributes.ts';
import type { ErrorCode } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';
import { intendedName } from '../text/intended-name.ts';

/** The props of `<Snippet>`: a snippet by its id, or from `defineSnippet`, with the params it is defined to take. */
export type SnippetProps<Schema extends ParamsSchema | undefined = undefined> = {
  /**
   * `html` shows the content, `text` its text. The default is `html` where elements may be, and in files that
   * are not pages; `text` elsewhere, as in `<title>` and in attributes.
   */
  as?: EmbedAs | undefined;
  /** Shows the children where the snippet does not exist, with a warning, instead of failing the build. */
  optional?: boolean | undefined;
  /** The key of React and MDX. Nothing reads it. */
  key?: unknown;
} & (
  | {
      /** The snippet's id. */
      id: number | `${number}`;
      of?: never;
      /** Variables for the snippet: one plain JSON object. */
      params?: Params | undefined;
    }
  | ({
      /** The snippet that `defineSnippet` returned. */
      of: SnippetDefinition<Schema>;
      id?: never;
    } & (undefined extends ParamsOf<Schema> ? { params?: ParamsOf<Schema> } : { params: ParamsOf<Schema> }))
);

/** The props as a page passes them: without type checking, they may be anything. */
type UncheckedProps = Partial<Record<keyof EmbedAttributes, unknown>> & {
  of?: SnippetDefinition | undefined;
  /** The slot of a component of Astro, which has put the embed there, or of a custom element. */
  slot?: unknown;
};

/** The part of the `Astro` global that says where a component is rendered. */
type RenderedPage = Pick<AstroGlobal, 'isPrerendered' | 'url' | 'originPathname' | 'routePattern'>;

/** The command of Astro that loaded the config, which the integration defines as `__ASTRO_SNIPPETS__`. */
export type AstroCommand = 'dev' | 'build' | 'preview' | 'sync';

/** The end tag of an embed. */
export const embedEnd: '</snippet-embed>' = `</${elementName}>`;

/**
 * Returns the start tag of an embed, from the props of `<Snippet>`, and announces the embed to the integration.
 *
 * The result is a promise for a definition (`of`), whose schema may check the params asynchronously. For an id
 * it is a string: awaiting an embed takes longer than rendering it.
 *
 * @param command `undefined` where the integration is not in the Astro config.
 * @param codeUrl where the site's code is: the built component, or the project of a dev server.
 * @throws UserError for props that are not valid, and for a page in which no snippet is inlined.
 */
export function embedStart(
  props: UncheckedProps,
  page: RenderedPage,
  command: AstroCommand | undefined,
  codeUrl = '',
): string | Promise<string> {
  const bridge = findBridge(codeUrl);
  refusePage(props, page, command, bridge);
  const path = page.isPrerendered ? page.url.pathname : containerPage;
  refuseProps(props, path, bridge);

  const write = (request: SnippetRequest) => {
    // A page that shows another one, as in a fallback language, has the URL of that one.
    const writtenPath = page.isPrerendered ? page.originPathname : containerPage;
    bridge.announce?.(request.id, request.params, { path, writtenPath });
    return startTag(request, props);
  };
  const fail = (error: unknown) => {
    throw error instanceof SnippetError
      ? componentError(error.code, error.reason, props, path, bridge)
      : error;
  };

  const { id, of, params } = props;
  if (of !== undefined) return definedRequest(of, params).then(write).catch(fail);
  try {
    return write(createRequest(id, params));
  } catch (error) {
    return fail(error);
  }
}

function startTag({ id, params }: SnippetRequest, { as, optional, slot }: UncheckedProps) {
  let tag = `<${elementName} id="${id}"`;
  if (params) tag += ` params="${escapeAttribute(params)}"`;
  if (as) tag += ` as="${as}"`;
  // The scan refuses a slot that the browser needs: here, nothing says which element is around.
  if (slot) tag += ` slot="${escapeAttribute(String(slot))}"`;
  return optional ? `${tag} optional="">` : `${tag}>`;
}

/** Refuses a page whose embeds nothing would replace. */
function refusePage(
  props: UncheckedProps,
  page: RenderedPage,
  command: AstroCommand | undefined,
  bridge: ComponentBridge,
) {
  if (command === undefined) {
    const flaw = 'the integration is not in the Astro config.';
    throw componentError('missing-integration', flaw, props, page.url.pathname, bridge);
  }

  // Nor is a page of Astro's Container API prerendered, but in a build `announce` is set, so it is no error.
  // `astro dev` checks pages when it serves them.
  if (!page.isPrerendered && command !== 'dev' && bridge.announce === undefined) {
    const flaw = `the route ${page.routePattern} is rendered on demand. Snippets are inlined while the site is built.`;
    throw componentError('on-demand-page', flaw, props, page.url.pathname, bridge);
  }
}

function refuseProps(props: UncheckedProps, path: string, bridge: ComponentBridge) {
  const unknownProp = Object.entries(props).find(isUnknownProp)?.[0];
  if (unknownProp !== undefined) {
    const intended = intendedAttribute(unknownProp) ?? intendedName(unknownProp, ['of']);
    const advice = intended ? `Did you mean \`${intended}\`?` : foreignAdvice(unknownProp);
    throw componentError(
      'unknown-attribute',
      `the prop \`${unknownProp}\` is unknown. ${advice}`,
      props,
      path,
      bridge,
    );
  }

  const { as, optional } = props;
  if (as !== undefined && as !== 'html' && as !== 'text') {
    const flaw = `\`as\` must be "html" or "text", not ${JSON.stringify(as)}.`;
    throw componentError('invalid-as', flaw, props, path, bridge);
  }
  if (optional !== undefined && typeof optional !== 'boolean') {
    const flaw = `\`optional\` must be true or false, not ${JSON.stringify(optional)}.`;
    throw componentError('invalid-optional', flaw, props, path, bridge);
  }
}

/** Whether a prop is misspelled, or would be lost. Of these three values, Astro makes no attribute, so nothing is lost. */
const isUnknownProp = ([name, value]: [string, unknown]) =>
  name !== 'of' &&
  isForeignAttribute(name, typeof value === 'string' ? value : 'true') &&
  (intendedAttribute(name) !== undefined || ![undefined, null, false].includes(value as undefined));

/**
 * Creates the error of a `<Snippet>`, with the place in the sources, which Astro's error page can open.
 *
 * @param page the path of the page's URL, or `containerPage`.
 */
function componentError(
  code: ErrorCode,
  flaw: string,
  props: UncheckedProps,
  page: string,
  bridge: ComponentBridge,
) {
  const { id, of } = props;
  const { place, loc } =
    bridge.find?.({
      id: of === undefined ? String(id ?? '') : undefined,
      page: page === containerPage ? undefined : page,
      props: Object.keys(props),
    }) ?? {};
  const where = place === undefined ? page : `${page} (${place})`;
  const error = userError(code, `<Snippet> of snippet ${of?.id ?? id} on ${where}: ${flaw}`);
  return Object.assign(error, loc && { loc });
}
