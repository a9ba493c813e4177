import { hash } from 'node:crypto';
import { decodeHTMLAttribute } from 'entities/decode';
import { paramsObject, type SnippetRequest } from '../client/snippet-request.ts';
import { cleanText, reasonOf } from '../client/text.ts';
import {
  type Attribute,
  applyEdits,
  attributesOf,
  type Edit,
  readAttribute,
  replaceValue,
  startTags,
  tagAt,
  textOf,
  walk,
} from '../embed/html-scanner.ts';
import { asBytes, decodeAttribute, type SnippetContent } from '../embed/inline.ts';
import { SiteError, type SiteErrorCode } from '../failures/errors.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { HtmlRules } from '../settings/options.ts';
import { routeFiles } from '../settings/site-urls.ts';
import type { InlineCode } from './parsed-html.ts';

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

// A parser takes longer than anything else here.
const parsing = () => import('./parsed-html.ts');

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
    const { findScripts, stripScripts } = await parsing();
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
  const inlineCode = policy === 'none' ? undefined : (await parsing()).findInlineCode(html);
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
  const { contexts, leftOpen } = await parsing();
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

/** Their contents are not shown as part of the page around them. */
export const contentHidingElements = new Set(
  `audio canvas details dialog iframe math noembed noframes noscript object plaintext script select style svg
  template textarea title video xmp`.split(/\s+/),
);

/** Whether HTML is text and complete tags that hide nothing. What any other leaves open, only a parser knows. */
export function hasOnlyOrdinaryTags(html: string) {
  // In a <noscript>, HTML may be raw text, which an end tag ends even in an attribute.
  if (/<\/noscript|<$/i.test(html)) return false;
  const markup = /<(?=[a-z/!?])/gi;
  for (let found = markup.exec(html); found; found = markup.exec(html)) {
    const tag = /^.\/?[a-z]/i.test(html.slice(found.index, found.index + 3)) && tagAt(html, found.index);
    // Behind a <col>, a parser may drop other elements.
    if (!tag || contentHidingElements.has(tag.name) || /^(?:col|colgroup|frameset)$/.test(tag.name))
      return false;
    markup.lastIndex = tag.end;
  }
  return true;
}

/** Also those in `<noscript>` and `<template>`. Each once, sorted. */
export function classesIn(html: string) {
  if (!/\bclass\b/i.test(html)) return [];
  const names = startTags(html).flatMap(
    (tag) => readAttribute(attributesOf(html, tag), 'class')?.split(/[\t\n\f\r ]+/) ?? [],
  );
  return [...new Set(names.filter(Boolean))].sort();
}

export type LinkRules = NonNullable<HtmlRules['links']>;

const urlAttributes = new Set(['href', 'src', 'srcset', 'action', 'poster']);
// They lead to pages, others to files.
const pageElements = new Set(['a', 'area', 'form']);
// All of them, so that the time stays linear.
const slashesAtEnd = /(?<!\/)\/+$/;

/** Puts the base before root-relative URLs, and ends paths of pages as the site does. */
export const adaptLinks = (html: string, rules: LinkRules) =>
  editTags(html, (tag, attributes) => {
    const adapt = (url: string) => adaptLink(url, pageElements.has(tag.name), rules);
    return attributes.flatMap((one) => (urlAttributes.has(one.name) ? replaceUrls(one, adapt) : []));
  });

function adaptLink(url: string, isPage: boolean, { base, trailingSlash }: LinkRules) {
  // As browsers do. They ignore line breaks and tabs in it, too.
  const trimmed = url.trim();
  if (!/^\/(?![\t\n\r]*[/\\])/.test(trimmed)) return url;
  const [path = ''] = trimmed.split(/[?#]/, 1);
  const root = base.replace(slashesAtEnd, '');
  const based = path === root || path.startsWith(`${root}/`) ? path : root + path;
  return url.replace(path, () => (isPage ? endPath(based, trailingSlash) : based));
}

function endPath(path: string, trailingSlash: LinkRules['trailingSlash']) {
  if (trailingSlash === 'never') return path.replace(slashesAtEnd, '') || '/';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isFile = name === '' || name.includes('.');
  return trailingSlash === 'ignore' || isFile ? path : `${path}/`;
}

export interface ImageCopy {
  /** In the folder of assets. */
  file: string;
  /** As a page writes it. */
  href: string;
  /** In pixels, as a browser shows it. */
  width: number;
  height: number;
}

/** A flaw is why there is no copy, or an old one. */
export type FoundImage = { copy?: ImageCopy | undefined; flaw?: string | undefined };

export type ImageUse = FoundImage & { url: string };

/** `undefined` if the site does not serve the image. */
export type FindImage = (url: URL) => Promise<FoundImage | undefined>;

/** Puts the site's copies of images into HTML. Flaws are sentences without a subject. */
export async function localizeImages(html: string, find: FindImage | undefined) {
  if (!find) return { html, images: [], flaws: [] };
  const found = new Map<string, FoundImage | undefined>();
  replaceImages(html, (url) => void found.set(url, undefined));
  await Promise.all([...found.keys()].map(async (url) => found.set(url, await find(new URL(url)))));
  const images = [...found].flatMap(([url, image]) => (image ? [{ url, ...image }] : []));
  const flaws = images.flatMap(({ url, copy, flaw }) => {
    const from = copy ? 'as it was last downloaded' : 'from its own host';
    return flaw ? `shows ${cleanText(url)} ${from}: ${flaw}.` : [];
  });
  return { html: replaceImages(html, (url) => found.get(url)), images, flaws };
}

const replaceImages = (html: string, find: (url: string) => FoundImage | undefined) =>
  editTags(html, ({ name, start, parent }, attributes) => {
    const isSource = name === 'source' && parent === 'picture';
    // Browsers take <image> for <img>.
    if (!isSource && name !== 'img' && name !== 'image') return [];
    const shown: (ImageCopy | undefined)[] = [];
    const hrefOf = (url: string) => {
      // Without its fragment. The host is in no option.
      const whole = URL.parse(url, 'https://relative.invalid/')?.href.replace(/#.*/, '');
      const copy = whole ? find(whole)?.copy : undefined;
      shown.push(copy);
      return copy?.href ?? url;
    };
    // On a <source>, `src` means nothing.
    const edits = (isSource ? ['srcset'] : ['src', 'srcset']).flatMap((wanted) => {
      const attribute = attributes.find(({ name }) => name === wanted);
      return attribute ? replaceUrls(attribute, hrefOf) : [];
    });
    // At the end of the tag, a slash may belong to a value.
    const at = start + 1 + name.length;
    if (shown[0]) edits.push({ start: at, end: at, text: newAttributes(shown[0], isSource, attributes) });
    return edits;
  });

function newAttributes({ width, height }: ImageCopy, isSource: boolean, attributes: Attribute[]) {
  const given = (name: string) => readAttribute(attributes, name);
  const isFree = given('width') === undefined && given('height') === undefined;
  const scaled = (length = '', by: number, of: number) =>
    /^[1-9]\d*$/.test(length) && Math.max(1, Math.round((Number(length) * by) / of));
  const isUrgent = given('fetchpriority')?.toLowerCase() === 'high';
  const wanted = {
    width: isFree ? width : scaled(given('height'), width, height),
    height: isFree ? height : scaled(given('width'), height, width),
    loading: !isSource && !isUrgent && 'lazy',
    decoding: !isSource && 'async',
  };
  const missing = Object.entries(wanted).filter(([name, value]) => value && given(name) === undefined);
  return missing.map(([name, value]) => ` ${name}="${value}"`).join('');
}

/** Also in `<noscript>` and `<template>`, which a browser may show. Every other byte stays. */
function editTags(
  html: string,
  editsOf: (tag: ReturnType<typeof startTags>[number], attributes: Attribute[]) => Edit[],
) {
  const edits = startTags(html).flatMap((tag) => editsOf(tag, attributesOf(html, tag)));
  return applyEdits(html, edits);
}

// As in browsers: a URL up to white space, and descriptors up to a comma outside of parentheses.
const srcsetCandidate =
  /([^\t\n\f\r ,](?:[^\t\n\f\r ]*[^\t\n\f\r ,])?)(,+(?=[\t\n\f\r ]|$)|(?:[^,(]+|\([^)]*\)?)*)/g;

export const replaceCandidates = (srcset: string, replacement: (url: string) => string) =>
  srcset.replace(srcsetCandidate, (_, url: string, rest: string) => replacement(url) + rest);

function replaceUrls(attribute: Attribute, replacement: (url: string) => string) {
  const value = decodeHTMLAttribute(attribute.value);
  const changed = attribute.name === 'srcset' ? replaceCandidates(value, replacement) : replacement(value);
  return changed === value ? [] : [replaceValue(attribute, changed)];
}

export const hashSource = (code: string) => `'sha256-${hash('sha256', code, 'base64')}'`;

export type Sources = Pick<InlineCode, 'scripts' | 'styles'>;

/** With the source of the script for edit links, if pages have it. */
export type SourceRules = Pick<HtmlRules, 'policy'> & { editLinks?: string | undefined };

export function sourcesOf(
  contents: readonly { inlineCode: InlineCode | undefined }[],
  { policy, editLinks }: SourceRules,
) {
  const codes = policy === 'hash' ? contents.flatMap(({ inlineCode }) => inlineCode ?? []) : [];
  const scripts = new Set([editLinks ?? [], ...codes.map((code) => code.scripts)].flat());
  return { scripts: [...scripts], styles: [...new Set(codes.flatMap((code) => code.styles))] };
}

/** Adds sources to policies, of which a header may have several. One with 'unsafe-inline', which a hash disables, allows all. */
export function allowSources(policy: string, { scripts, styles }: Sources) {
  const allowed = policy
    .split(',')
    .map((one) => allowInDirective(allowInDirective(one, 'script-src', scripts), 'style-src', styles));
  return allowed.join(',');
}

function allowInDirective(policy: string, kind: 'script-src' | 'style-src', sources: string[]) {
  const directives = policy.split(';');
  const words = directives.map((directive) => directive.trim().split(/\s+/));
  const names = words.map(([name]) => name?.toLowerCase());
  // The most specific directive decides; of several with one name, the first.
  const deciding = [`${kind}-elem`, kind, 'default-src'].find((name) => names.includes(name));
  const index = names.indexOf(deciding);
  const [name, ...allowed] = words[index] ?? [];
  const missing = sources.filter((source) => !allowed.includes(source));
  const has = (pattern: RegExp) => allowed.some((source) => pattern.test(source));
  const allowsAll = has(/^'unsafe-inline'$/i) && !has(/^'(nonce-|sha\d+-|strict-dynamic')/i);
  if (!deciding || missing.length === 0 || allowsAll) return policy;
  const list = [...allowed.filter((source) => source.toLowerCase() !== "'none'"), ...missing];
  // A new directive: default-src decides about more.
  if (deciding === 'default-src') {
    const others = directives.filter((one, at) => one.trim() !== '' || at === 0);
    return [...others, ` ${[kind, ...list].join(' ')}`].join(';');
  }
  const space = /^\s*/.exec(directives[index] ?? '')?.[0] ?? '';
  return directives.with(index, space + [name, ...list].join(' ')).join(';');
}

const policyHeader = 'content-security-policy';

/** Edits each policy in the head of a page, even if nothing changes. Browsers ignore others. */
export function allowInPage(page: Buffer, sources: Sources) {
  const html = page.toString('latin1');
  if (!/content-security-policy/i.test(html)) return [];
  const edits: Edit[] = [];
  let isOver = false;
  walk(html, null, {
    open(tag, context) {
      isOver ||= tag.name === 'body';
      const attributes = tag.name === 'meta' && !isOver ? attributesOf(html, tag) : [];
      const content = attributes.find(({ name }) => name === 'content');
      if (content && readAttribute(attributes, 'http-equiv')?.toLowerCase() === policyHeader) {
        const policy = decodeAttribute(content.value);
        const allowed = allowSources(policy, sources);
        const edit = replaceValue(content, allowed);
        edits.push({ ...edit, text: allowed === policy ? content.value : asBytes(edit.text) });
      }
      return context;
    },
    close(name, { start, end }) {
      isOver ||= name === 'head' && start < end;
    },
    isDone: () => isOver,
  });
  return edits;
}

/** The same in headers. Routes may begin with the base path. */
export function headerPolicies(routes: RouteToHeaders, base: string) {
  const known = new Map<string, Headers>();
  for (const [pathname, { headers }] of routes) {
    for (const name of routeFiles(pathname, base)) known.set(name, headers);
  }
  return (page: string, sources: Sources) => {
    const headers = known.get(page);
    const policy = headers?.get(policyHeader);
    if (policy) headers?.set(policyHeader, allowSources(policy, sources));
  };
}
