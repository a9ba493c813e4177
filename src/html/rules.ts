import type { Snippet } from '../client/snippet-client.ts';
import { paramsObject, type SnippetRequest } from '../client/snippet-request.ts';
import { reasonOf } from '../client/text.ts';
import { attributesOf, readAttribute, startTags, tagAt, textOf } from '../embed/html-scanner.ts';
import type { Content } from '../embed/inline.ts';
import { SiteError, type SiteErrorCode } from '../failures/errors.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { InlineCode } from './content-security-policy.ts';
import { adaptLinks, type FindImage, type ImageUse, localizeImages } from './urls.ts';

const mostTags = 100_000;

export interface PreparedSnippet extends Content {
  /** Each names the snippet. */
  warnings: string[];
  inlineCode: InlineCode | undefined;
  /** In files that are no pages, if it differs: with the original URLs of images. */
  htmlElsewhere?: string | undefined;
  /** If the site makes CSS for them. */
  classes?: readonly string[] | undefined;
  /** Of the hosts that the site names. */
  images?: readonly ImageUse[] | undefined;
}

// Loading and running a parser would take longer than anything else here.
const parsing = () => import('./parsed-html.ts');

/**
 * Prepares content to be inlined, as HTML somewhere if `asHtml`; with `findImage` if the site serves images itself.
 *
 * @throws SiteError `sanitize-failed`, `too-many-tags`, `script-refused` or `left-open`
 */
export async function applyRules(
  { content }: Pick<Snippet, 'content'>,
  { request, asHtml }: { request: SnippetRequest; asHtml: boolean },
  rules: HtmlRules & { findImage?: FindImage | undefined },
): Promise<PreparedSnippet> {
  const refusal = (code: SiteErrorCode, reason: string) => new SiteError(code, reason, request.id);
  const withoutScripts = async (html: string) => {
    if (rules.scripts === 'allow') return html;
    const { findScripts, stripScripts } = await parsing();
    const [script] = rules.scripts === 'error' ? findScripts(html) : [];
    if (script !== undefined) throw refusal('script-refused', `contains ${script.what}.`);
    const kept = rules.scripts === 'strip' ? stripScripts(html) : html;
    if (kept !== undefined) return kept;
    throw refusal('script-refused', 'contains scripts that are nested too deep to be stripped.');
  };
  const sanitized = await sanitize(content, request, rules);
  const text = textOf(sanitized);
  // Most snippets have no tags.
  const tags = sanitized.split('<').length - 1;
  if (!asHtml || tags === 0) return { html: sanitized, text, warnings: [], inlineCode: undefined };
  // Parsing a megabyte of tags would take minutes.
  if (tags > mostTags) throw refusal('too-many-tags', `has more than ${mostTags} tags.`);
  const { links, findImage, policy, strict } = rules;
  const linked = links === undefined ? sanitized : adaptLinks(sanitized, links);
  // First: what follows reads HTML as a browser does, and in other elements an attribute may mean something else.
  const { html: shown, images, flaws } = await localizeImages(linked, findImage);
  const html = await withoutScripts(shown);
  const open = await findOpen(html, rules);
  if (open !== undefined && strict) throw refusal('left-open', open);
  const inlineCode = policy === 'none' ? undefined : (await parsing()).findInlineCode(html);
  const blocked = inlineCode && describeBlocked(inlineCode, policy);
  const warnings = [...flaws, open, blocked].flatMap((flaw) => (flaw ? `Snippet ${request.id} ${flaw}` : []));
  return {
    html,
    text,
    warnings,
    inlineCode,
    leavesOpen: open === undefined ? undefined : true,
    classes: rules.classes ? classesIn(html) : undefined,
    images: images.length > 0 ? images : undefined,
    htmlElsewhere: shown === linked ? undefined : await withoutScripts(linked),
  };
}

async function sanitize(html: string, request: SnippetRequest, rules: HtmlRules): Promise<string> {
  if (rules.sanitize === undefined) return html;
  try {
    const clean: unknown = await rules.sanitize(html, { id: request.id, params: paramsObject(request) });
    if (typeof clean === 'string') return clean;
    const what = clean === null ? 'null' : `a value of type ${typeof clean}`;
    throw new TypeError(`sanitize returned ${what} instead of a string`);
  } catch (error) {
    throw new SiteError('sanitize-failed', `could not be sanitized: ${reasonOf(error)}`, request.id);
  }
}

/** What HTML leaves open, wherever it is shown: the end of a sentence. */
async function findOpen(html: string, { scripts }: HtmlRules): Promise<string | undefined> {
  if (hasOnlyOrdinaryTags(html)) return undefined;
  const { contexts, leftOpen } = await parsing();
  // A script such as `i<n` would be found open inside an <svg>, where it is not shown.
  const places = (scripts === 'allow' ? [''] : contexts).values();
  const open = places.map((before) => leftOpen(html, before)).find((found) => found !== undefined);
  return open && `leaves ${open} open, which swallows the rest of the page.`;
}

/** What a policy blocks: the end of a sentence. */
function describeBlocked({ scripts, styles, hasAttributes }: InlineCode, policy: HtmlRules['policy']) {
  const isHashed = policy === 'hash';
  const found = [
    !isHashed && scripts.length > 0 && 'an inline script',
    !isHashed && styles.length > 0 && 'an inline style',
    hasAttributes && 'event handlers or style attributes',
  ].filter(Boolean);
  const why = isHashed
    ? 'which no hash in a Content Security Policy can allow: browsers ignore them.'
    : "blocked by the site's Content Security Policy. Set csp: 'hash' to allow scripts and styles by their hashes.";
  return found.length === 0 ? undefined : `contains ${found.join(' and ')}, ${why}`;
}

/** Their contents are not shown as part of the page around them. */
export const hides = new Set(
  `audio canvas details dialog iframe math noembed noframes noscript object plaintext script select style svg
  template textarea title video xmp`.split(/\s+/),
);

/** Whether HTML is text and complete tags that hide nothing. Otherwise, only a parser tells what it leaves open. */
export function hasOnlyOrdinaryTags(html: string): boolean {
  // In a <noscript> around it, HTML may be raw text, which ends at the end tag, even in an attribute.
  if (/<\/noscript|<$/i.test(html)) return false;
  const markup = /<(?=[a-z/!?])/gi;
  for (let found = markup.exec(html); found !== null; found = markup.exec(html)) {
    const tag = /^.\/?[a-z]/i.test(html.slice(found.index, found.index + 3)) && tagAt(html, found.index);
    // Behind a <col>, a parser may drop other elements.
    if (!tag || hides.has(tag.name) || /^(?:col|colgroup|frameset)$/.test(tag.name)) return false;
    markup.lastIndex = tag.end;
  }
  return true;
}

/** Also those in `<noscript>` and `<template>`. Each once, sorted. */
export function classesIn(html: string): string[] {
  if (!/\bclass\b/i.test(html)) return [];
  const names = startTags(html).flatMap(
    (tag) => readAttribute(attributesOf(html, tag), 'class')?.split(/[\t\n\f\r ]+/) ?? [],
  );
  return [...new Set(names.filter((name) => name !== ''))].sort();
}
