import { paramsObject, type SnippetRequest } from '../client/snippet-request.ts';
import type { SnippetContent } from '../embed/replace-embeds.ts';
import type { SiteErrorCode } from '../failures/error-table.ts';
import { SiteError } from '../failures/errors.ts';
import { textOf } from '../markup/text-of.ts';
import type { HtmlRules } from '../settings/options.ts';
import { reasonOf } from '../text/clean-text.ts';
import { classesIn } from './classes.ts';
import type { InlineCode } from './csp.ts';
import { type FindImage, type ImageUse, localizeImages } from './images.ts';
import { adaptLinks } from './links.ts';
import { hasOnlyOrdinaryTags } from './ordinary-tags.ts';

const mostTags = 100_000;

export interface PreparedSnippet extends SnippetContent {
  /** Each names the snippet. */
  warnings: string[];
  inlineCode: InlineCode | undefined;
  /** In files that are no pages, if it differs: with the images' own URLs. */
  htmlElsewhere?: string | undefined;
  /** If the site makes CSS for them. */
  classes?: readonly string[] | undefined;
  /** Of the hosts that the site names. */
  images?: readonly ImageUse[] | undefined;
}

/**
 * Prepares content to be inlined, as HTML somewhere if `asHtml`; with `findImage` if the site serves images itself.
 *
 * @throws SiteError `sanitize-failed`, `too-many-tags`, `script-refused` or `left-open`
 */
export async function prepareSnippet(
  { content }: { content: string },
  { request, asHtml }: { request: SnippetRequest; asHtml: boolean },
  rules: HtmlRules & { findImage?: FindImage | undefined },
): Promise<PreparedSnippet> {
  const refusal = (code: SiteErrorCode, reason: string) => new SiteError(code, reason, request.id);
  const withoutScripts = async (html: string) => {
    if (rules.scripts === 'allow') return html;
    const { findScripts, stripScripts } = await import('./scripts.ts');
    const [script] = rules.scripts === 'error' ? findScripts(html) : [];
    if (script) throw refusal('script-refused', `contains ${script.what}.`);
    const kept = rules.scripts === 'strip' ? stripScripts(html) : html;
    if (kept !== undefined) return kept;
    throw refusal('script-refused', 'contains scripts that are nested too deep to be stripped.');
  };
  const sanitized = await sanitize(content, request, rules);
  const text = textOf(sanitized);
  const tags = sanitized.split('<').length - 1;
  if (!asHtml || tags === 0) return { html: sanitized, text, warnings: [], inlineCode: undefined };
  // Parsing a megabyte of tags would take minutes.
  if (tags > mostTags) throw refusal('too-many-tags', `has more than ${mostTags} tags.`);
  const { links, findImage, policy, strict } = rules;
  const linked = links ? adaptLinks(sanitized, links) : sanitized;
  // First: what follows is about HTML in pages, and elsewhere an attribute may mean something else.
  const { html: shown, images, flaws } = await localizeImages(linked, findImage);
  const html = await withoutScripts(shown);
  const open = await findOpen(html, rules);
  if (open && strict) throw refusal('left-open', open);
  const inlineCode = policy === 'none' ? undefined : (await import('./inline-code.ts')).findInlineCode(html);
  const blocked = inlineCode && describeBlocked(inlineCode, policy);
  const warnings = [...flaws, open, blocked].flatMap((flaw) => (flaw ? `Snippet ${request.id} ${flaw}` : []));
  return {
    html,
    text,
    warnings,
    inlineCode,
    leavesOpen: open ? true : undefined,
    classes: rules.classes ? classesIn(html) : undefined,
    images: images.length > 0 ? images : undefined,
    htmlElsewhere: shown === linked ? undefined : await withoutScripts(linked),
  };
}

async function sanitize(html: string, request: SnippetRequest, rules: HtmlRules) {
  if (!rules.sanitize) return html;
  try {
    const clean: unknown = await rules.sanitize(html, { id: request.id, params: paramsObject(request) });
    if (typeof clean === 'string') return clean;
    const what = clean === null ? 'null' : `a value of type ${typeof clean}`;
    throw new TypeError(`sanitize returned ${what} instead of a string`);
  } catch (error) {
    throw new SiteError('sanitize-failed', `could not be sanitized: ${reasonOf(error)}`, request.id);
  }
}

/** What HTML leaves open anywhere: the end of a sentence. */
async function findOpen(html: string, { scripts }: HtmlRules) {
  if (hasOnlyOrdinaryTags(html)) return undefined;
  const { contexts } = await import('./parse.ts');
  const { leftOpen } = await import('./open-elements.ts');
  // A script such as `i<n` would be found open inside an <svg>, where it is not shown.
  const places = (scripts === 'allow' ? [''] : contexts).values();
  const open = places.map((before) => leftOpen(html, before)).find(Boolean);
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
