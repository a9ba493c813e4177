import { paramsObject, type SnippetRequest } from '../client/snippet-request.ts';
import type { SnippetContent } from '../embed/replace-embeds.ts';
import { runsAsUrl } from '../embed/syntax.ts';
import { SiteError } from '../failures/errors.ts';
import { nameSnippet } from '../failures/name-snippet.ts';
import { type ContentFlaw, type SnippetFlaw, toSnippetFlaw } from '../failures/snippet-warning.ts';
import { textOf } from '../markup/text-of.ts';
import type { HtmlRules } from '../settings/options.ts';
import { reasonOf } from '../text/clean-text.ts';
import { lineAt, lineCount } from '../text/line-numbers.ts';
import { classesIn } from './attributes.ts';
import { describeBlocked } from './blocked.ts';
import type { InlineCode } from './csp.ts';
import { type FindImage, type ImageUse, localizeImages } from './images.ts';
import { adaptLink, adaptLinks } from './links.ts';
import type { LeftOpen } from './open-elements.ts';
import { hasOnlyOrdinaryTags } from './ordinary-tags.ts';
import { applyScriptRule, findScriptFlaw, letsScriptsRun, mayHoldCode, urlFlawsOf } from './script-rule.ts';

/** A snippet's content, ready to be inlined. */
export interface PreparedSnippet extends SnippetContent {
  /** Flaws of the content that do not fail the build. */
  flaws: SnippetFlaw[];
  /** What a policy as Astro writes it blocks, for content that is on no page whose policies are known. */
  policyFlaws?: SnippetFlaw[];
  /** What of the HTML a Content Security Policy may block; `undefined` if there is none. */
  inlineCode: InlineCode | undefined;
  /** The HTML for files that are no pages, if it differs: images keep their own URLs there. */
  htmlElsewhere?: string | undefined;
  /** The CSS classes in the HTML, if the site makes CSS for them. */
  classes?: readonly string[] | undefined;
  /** The images in the HTML from the hosts in the site's settings. */
  images?: readonly ImageUse[] | undefined;
}

/** The site's rules for HTML, and what only a page needs. */
export interface ContentRules extends HtmlRules {
  /** Absent if images stay on their own hosts. */
  findImage?: FindImage | undefined;
  /**
   * Whether inline code is found and hashed, for policies. A live snippet is on pages whose policies are not known, and
   * workers may have no `node:crypto` to hash it. @default true
   */
  findsInlineCode?: boolean;
}

/** A snippet and how the site displays it, which decides the rules that apply to its content. */
export interface SnippetDisplay {
  request: SnippetRequest;
  /** Whether any embed shows it as HTML. Otherwise every place shows its text. */
  asHtml: boolean;
  /** Whether any embed shows its text as a whole URL. */
  asUrl?: boolean | undefined;
  /** Whether any embed is in a script with a template, which ends at `</script>`. */
  inTemplate?: boolean | undefined;
}

/** The most tags that content may have: parsing a megabyte of tags takes minutes. */
const maxTags = 100_000;

/**
 * Prepares a snippet's content for pages, by the rules of the site. The first content that needs the HTML parser loads
 * it: text never does, and ordinary tags do only for a rule about scripts.
 *
 * @throws SiteError `sanitize-failed`, `too-many-tags`, `script-refused` or `left-open`
 */
export async function prepareSnippet(
  { content, name }: { content: string; name?: string | undefined },
  { request, asHtml, asUrl, inTemplate }: SnippetDisplay,
  rules: ContentRules,
): Promise<PreparedSnippet> {
  const sanitized = await sanitize(content, request, rules);
  const text = textOf(sanitized);
  const url = asUrl ? urlOf(text, request, rules) : undefined;
  const subject = nameSnippet({ id: request.id, name });
  const toFlaw = (flaw: ContentFlaw) => toSnippetFlaw(subject, flaw);
  const urlFlaws = asUrl ? urlFlawsOf(text, rules).map(toFlaw) : [];

  const tagCount = sanitized.split('<').length - 1;
  if (!asHtml || tagCount === 0)
    return { html: sanitized, text, url, flaws: urlFlaws, inlineCode: undefined };
  if (tagCount > maxTags) throw new SiteError('too-many-tags', `has more than ${maxTags} tags.`, request.id);

  const linked = rules.links ? adaptLinks(sanitized, rules.links) : sanitized;
  // Images first: the rules below apply to the HTML with the copies and, for other files, to that without.
  const localized = await localizeImages(linked, rules.findImage);
  const html = await applyScriptRule(localized.html, request.id, rules);
  const scripts = await findScriptFlaw(linked, rules);

  if (inTemplate && /<\/script|<!--/i.test(html)) {
    const reason =
      'contains "</script" or "<!--", which would end the script with the template that shows it.';
    throw new SiteError('script-refused', reason, request.id);
  }

  const leftOpen = await findLeftOpen(html, rules);
  if (leftOpen && rules.strict) throw new SiteError('left-open', describeOpen(leftOpen), request.id);
  const flaws: ContentFlaw[] = [
    ...localized.flaws.map((text): ContentFlaw => ({ code: 'image-not-copied', text })),
    ...(leftOpen ? [openFlaw(leftOpen, html, content)] : []),
    ...(scripts ? [scripts] : []),
  ];

  const inlineCode = rules.findsInlineCode === false ? undefined : await inlineCodeOf(html);
  const presumed = rules.policy === 'none' ? [] : describeBlocked({ inlineCode }, undefined, rules.policy);
  const policyFlaws = presumed.map((text): ContentFlaw => ({ code: 'blocked-by-policy', text }));
  return {
    html,
    text,
    url,
    flaws: [...urlFlaws, ...flaws.map(toFlaw)],
    policyFlaws: policyFlaws.map(toFlaw),
    inlineCode,
    leavesOpen: leftOpen?.isLost || undefined,
    classes: rules.classes ? classesIn(html) : undefined,
    images: localized.images.length > 0 ? localized.images : undefined,
    htmlElsewhere: localized.html === linked ? undefined : await applyScriptRule(linked, request.id, rules),
  };
}

/** The text of a snippet as a URL, by the rules for the links in snippets. @throws SiteError `script-refused` */
function urlOf(text: string, request: SnippetRequest, { links, scripts, sanitize }: ContentRules) {
  // Browsers drop line breaks and tabs in a URL, and encode spaces, which would end the URL in a `srcset`.
  const written = text
    .trim()
    .replace(/[\t\n\r]/g, '')
    .replaceAll(' ', '%20');
  const url = links ? adaptLink(written, true, links) : written;
  if (!runsAsUrl(url)) return url;
  if (scripts === 'strip') return '';
  // A site that sanitizes does not trust its authors, and its sanitizer has not seen that the text is a URL.
  if (letsScriptsRun(scripts) && !sanitize) return url;
  throw new SiteError('script-refused', 'is shown as a URL, and is a javascript: URL.', request.id);
}

async function sanitize(html: string, request: SnippetRequest, rules: ContentRules) {
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

/** Finds what HTML leaves open, wherever it is put. What hides the rest of the page comes first. */
export async function findLeftOpen(
  html: string,
  { scripts }: Pick<HtmlRules, 'scripts'>,
): Promise<LeftOpen | undefined> {
  if (hasOnlyOrdinaryTags(html)) return undefined;
  const { contexts } = await import('./parse.ts');
  const { leftOpen } = await import('./open-elements.ts');
  // If scripts are allowed, HTML is parsed without a context only: in an <svg>, the `i<n` of a script would
  // seem an open tag.
  let found: LeftOpen | undefined;
  for (const before of letsScriptsRun(scripts) ? [''] : contexts) {
    const open = leftOpen(html, before);
    if (open?.isLost) return open;
    found ??= open;
  }
  return found;
}

/** Describes what HTML leaves open, as the end of a sentence. */
export const describeOpen = ({ what, isLost }: LeftOpen): string =>
  isLost
    ? `leaves ${what} open, which swallows the rest of the page.`
    : `leaves ${what} open, which browsers continue in the rest of the page.`;

/** The flaw of HTML that leaves something open. Its line is known if the site's rules have removed no lines. */
function openFlaw(leftOpen: LeftOpen, html: string, content: string): ContentFlaw {
  const hasSameLines = lineCount(html) === lineCount(content);
  return {
    code: 'left-open',
    text: describeOpen(leftOpen),
    line: hasSameLines && leftOpen.start !== undefined ? lineAt(html, leftOpen.start) : undefined,
  };
}

async function inlineCodeOf(html: string) {
  if (!mayHoldCode.test(html)) return undefined;
  const { findInlineCode } = await import('./inline-code.ts');
  return findInlineCode(html);
}
