import { type Edit, toByteString } from '../markup/edits.ts';
import { attributesOf, decodeAttribute, readAttribute, replaceValue } from '../markup/tags.ts';
import { walk } from '../markup/walk.ts';
import type { HtmlRules } from '../settings/options.ts';
import { routeFiles } from '../settings/route-files.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { RouteToHeaders } from '../settings/versions.ts';

/** Sources of inline scripts and style sheets, as a policy writes them: `'sha256-…'`. */
export interface PolicySources {
  scripts: string[];
  styles: string[];
}

/** The code in some HTML that a policy has to allow (Content Security Policy Level 3). */
export interface InlineCode extends PolicySources {
  /** Attributes with code, which a hash can allow only beside `'unsafe-hashes'`. */
  attributes: InlineAttribute[];
}

/** An attribute with code: an event handler, a `javascript:` URL or a style. */
export interface InlineAttribute {
  kind: 'handler' | 'url' | 'style';
  /** The source that allows exactly this code. */
  source: string;
}

/** The settings that decide which sources a policy has to allow. */
export interface PolicyRules extends Pick<HtmlRules, 'policy'> {
  /** The source of the script for edit links, if pages have it. */
  editLinks?: string | undefined;
}

/** The sources that a page with these contents needs, each once. */
export function sourcesOf(
  contents: readonly { inlineCode: InlineCode | undefined }[],
  { policy, editLinks }: PolicyRules,
): PolicySources {
  const codes = policy === 'hash' ? contents.flatMap(({ inlineCode }) => inlineCode ?? []) : [];
  const scripts = codes.flatMap((code) => code.scripts);
  if (editLinks !== undefined) scripts.unshift(editLinks);
  const styles = codes.flatMap((code) => code.styles);
  return { scripts: [...new Set(scripts)], styles: [...new Set(styles)] };
}

/**
 * Adds sources to a Content Security Policy, or to each policy of a header, where commas separate several.
 * Where `'unsafe-inline'` allows all code, nothing is added: a hash would disable that.
 */
export function allowSources(policies: string, { scripts, styles }: PolicySources): string {
  return policies
    .split(',')
    .map((policy) => allowInPolicy(allowInPolicy(policy, 'script-src', scripts), 'style-src', styles))
    .join(',');
}

/** `allowInPolicy("script-src 'self'", 'script-src', ["'sha256-S'"])` is `script-src 'self' 'sha256-S'`. */
function allowInPolicy(policy: string, kind: 'script-src' | 'style-src', sources: string[]) {
  const directives = policy.split(';');
  const words = directives.map((directive) => directive.trim().split(/\s+/));
  const names = words.map(([name]) => name?.toLowerCase());

  // Browsers obey the most specific directive and, of several with one name, the first.
  const deciding = [`${kind}-elem`, kind, 'default-src'].find((name) => names.includes(name));
  if (!deciding) return policy;
  const index = names.indexOf(deciding);
  const [name, ...allowed] = words[index] ?? [];
  const missing = sources.filter((source) => !allowed.includes(source));
  if (missing.length === 0 || allowsAllInline(allowed, kind === 'script-src')) return policy;

  const extended = [...allowed.filter((source) => source.toLowerCase() !== "'none'"), ...missing];
  if (deciding === 'default-src') {
    // The sources get a directive of their own: `default-src` decides about images, fonts and more, too.
    const others = directives.filter((directive, position) => directive.trim() !== '' || position === 0);
    return [...others, ` ${[kind, ...extended].join(' ')}`].join(';');
  }
  const space = /^\s*/.exec(directives[index] ?? '')?.[0] ?? '';
  return directives.with(index, space + [name, ...extended].join(' ')).join(';');
}

/**
 * Whether sources allow all inline code. A nonce or a hash disables `'unsafe-inline'`, and so does
 * `'strict-dynamic'` for scripts.
 */
export function allowsAllInline(sources: readonly string[], isScript: boolean): boolean {
  const includes = (pattern: RegExp) => sources.some((source) => pattern.test(source));
  if (!includes(/^'unsafe-inline'$/i) || includes(/^'(nonce-|sha\d+-)/i)) return false;
  return !isScript || !includes(/^'strict-dynamic'$/i);
}

const policyHeader = 'content-security-policy';

/** The policies of a page in its own elements. */
export interface PagePolicies {
  /** The edits that add sources to them. One that lacks nothing gets an edit that changes nothing. */
  edits: Edit[];
  /** The policies with these sources. */
  policies: string[];
}

/**
 * Adds sources to each `<meta http-equiv="content-security-policy">` in the head of a page.
 * Browsers ignore those in the body.
 *
 * @param isReplaced says whether the element at an offset is about to be replaced, as among an embed's children
 * @param page the page as a file, so that offsets of edits are bytes.
 */
export function allowInPage(
  page: Buffer,
  sources: PolicySources,
  isReplaced: (offset: number) => boolean = () => false,
): PagePolicies {
  const html = page.toString('latin1');
  const found: PagePolicies = { edits: [], policies: [] };
  if (!/content-security-policy/i.test(html)) return found;

  let isHeadOver = false;
  walk(html, null, {
    open(tag, context) {
      isHeadOver ||= tag.name === 'body';
      if (tag.name !== 'meta' || isHeadOver || isReplaced(tag.start)) return context;

      const attributes = attributesOf(html, tag);
      const content = attributes.find(({ name }) => name === 'content');
      if (content && readAttribute(attributes, 'http-equiv')?.toLowerCase() === policyHeader) {
        const policy = decodeAttribute(content.value);
        const allowed = allowSources(policy, sources);
        const edit = replaceValue(content, allowed);
        // An unchanged policy stays as it is written, with its own entities.
        found.policies.push(allowed);
        found.edits.push({ ...edit, text: allowed === policy ? content.value : toByteString(edit.text) });
      }
      return context;
    },
    close(name, { start, end }) {
      // An empty range is no `</head>`: where that is left out, the head ends at `<body>` (see `open`).
      isHeadOver ||= name === 'head' && start < end;
    },
    isDone: () => isHeadOver,
  });
  return found;
}

/** The policies that an adapter sends in the headers of pages. */
export interface HeaderPolicies {
  /**
   * Adds sources to the policies of a page, and returns these. Headers are changed in place: the adapter reads
   * them later.
   */
  allow(page: string, sources: PolicySources): string[];
  /** The paths of routes with a policy whose page is not in the output. */
  withoutPage: readonly string[];
}

/**
 * Finds the pages of the policies in headers.
 *
 * @param routes the headers by the path of a route, below the base and decoded
 * @param exists says whether the output has a file of this name
 */
export function headerPolicies(
  routes: RouteToHeaders,
  format: SiteUrls['format'],
  exists: (name: string) => boolean,
): HeaderPolicies {
  const headersByPage = new Map<string, Headers[]>();
  const withoutPage: string[] = [];
  for (const [path, { headers, route }] of routes) {
    if (!headers.has(policyHeader)) continue;
    const names = routeFiles({ path, type: route.type }, format).filter(exists);
    for (const name of names) headersByPage.set(name, [...(headersByPage.get(name) ?? []), headers]);
    if (names.length === 0) withoutPage.push(path);
  }
  return {
    withoutPage,
    allow(page, sources) {
      return (headersByPage.get(page) ?? []).flatMap((headers) => {
        const policies = allowSources(headers.get(policyHeader) ?? '', sources);
        headers.set(policyHeader, policies);
        return policies.split(',');
      });
    },
  };
}
