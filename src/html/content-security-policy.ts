import { hash } from 'node:crypto';
import type { RouteToHeaders } from '../astro-version.ts';
import { decodeAttribute } from '../embed/found.ts';
import { attributesOf, walk } from '../embed/html-scanner.ts';
import type { Replacement } from '../embed/inline.ts';
import { routeFiles } from '../settings/site-urls.ts';
import { attributeOf, replaceValue } from './edits.ts';
import type { InlineCode } from './scripts.ts';

/** A script or a style as a policy names it: `'sha256-…'`. */
export function hashSource(code: string): string {
  return `'sha256-${hash('sha256', code, 'base64')}'`;
}

/** Sources as a policy names them, `'sha256-…'`, by the directive they are for. */
export interface Sources {
  scripts: readonly string[];
  styles: readonly string[];
}

/** Why a page may have to allow more than it does. */
export interface SourceRules {
  /** Code of snippets is allowed with `hash`. */
  policy: 'none' | 'warn' | 'hash';
  /** The source of the script for edit links, if pages have it. */
  editLinks?: string | undefined;
}

/** The sources that a page has to allow for what is inlined on it, each once. */
export function sourcesOf(
  contents: Iterable<{ inlineCode: InlineCode | undefined }>,
  { policy, editLinks }: SourceRules,
): Sources {
  const scripts = new Set<string>(editLinks === undefined ? [] : [editLinks]);
  const styles = new Set<string>();
  for (const { inlineCode } of policy === 'hash' ? contents : []) {
    for (const source of inlineCode?.scripts ?? []) scripts.add(source);
    for (const source of inlineCode?.styles ?? []) styles.add(source);
  }
  return { scripts: [...scripts], styles: [...styles] };
}

/**
 * Adds sources to a Content Security Policy, or to a list of policies as a header may contain. Changes only the
 * directives that decide about inline scripts and styles. A directive with 'unsafe-inline' already allows all of them
 * and stays as it is: adding a hash would disable 'unsafe-inline'.
 */
export function allowSources(policy: string, { scripts, styles }: Sources): string {
  return policy
    .split(',')
    .map((one) => allow(allow(one, 'script-src', scripts), 'style-src', styles))
    .join(',');
}

function allow(policy: string, kind: 'script-src' | 'style-src', sources: readonly string[]): string {
  const directives = policy.split(';');
  const names = directives.map((directive) => directive.trim().split(/\s+/)[0]?.toLowerCase());
  // The most specific directive decides, and of several with the same name the first.
  const deciding = [`${kind}-elem`, kind, 'default-src'].find((name) => names.includes(name));
  if (deciding === undefined) return policy;
  const index = names.indexOf(deciding);
  const directive = directives[index] ?? '';
  const [, ...allowed] = directive.trim().split(/\s+/);
  const missing = [...new Set(sources)].filter((source) => !allowed.includes(source));
  if (missing.length === 0 || allowsAll(allowed)) return policy;
  if (deciding === 'default-src') {
    // A directive of its own, so that nothing else that default-src decides about changes.
    const list = [...allowed.filter(isSource), ...missing].join(' ');
    return [...directives.filter((one, at) => one.trim() !== '' || at === 0), ` ${kind} ${list}`].join(';');
  }
  const start = directive.slice(0, directive.length - directive.trimStart().length);
  const name = directive.trim().split(/\s+/)[0];
  directives[index] = `${start}${[name, ...allowed.filter(isSource), ...missing].join(' ')}`;
  return directives.join(';');
}

function isSource(source: string): boolean {
  return source.toLowerCase() !== "'none'";
}

function allowsAll(allowed: readonly string[]): boolean {
  const sources = allowed.map((source) => source.toLowerCase());
  const isDisabled = sources.some((source) => /^'(nonce-|sha\d+-|strict-dynamic')/.test(source));
  return sources.includes("'unsafe-inline'") && !isDisabled;
}

const header = 'content-security-policy';

/**
 * What makes the policies of a page allow these sources, one for each policy, even if nothing changes: those that `<meta>`
 * elements in its head set. Browsers ignore them in the body.
 */
export function allowInPage(page: Buffer, sources: Sources): Replacement[] {
  const end = page.indexOf('</head');
  const html = page.toString('latin1', 0, end === -1 ? page.length : end);
  const found: Replacement[] = [];
  if (!/content-security-policy/i.test(html)) return found;
  walk(html, null, {
    open(tag, context) {
      const sets = tag.name === 'meta' && attributeOf(html, tag, 'http-equiv')?.toLowerCase() === header;
      const content = sets && attributesOf(html, tag).find(({ name }) => name === 'content');
      if (!content) return context;
      const written = html.slice(content.start, content.end);
      const policy = decodeAttribute(written);
      const allowed = allowSources(policy, sources);
      const { start, end, text } = replaceValue(content, allowed);
      found.push({
        start,
        end,
        bytes: allowed === policy ? Buffer.from(written, 'latin1') : Buffer.from(text),
      });
      return context;
    },
  });
  return found;
}

/**
 * The policies that are sent as headers, by the name of the page's file.
 *
 * @param base the site's base path, which routes may begin with.
 */
export class HeaderPolicies {
  readonly #headers = new Map<string, Headers>();

  constructor(routes: RouteToHeaders, base: string) {
    for (const [pathname, { headers }] of routes) {
      if (!headers.has(header)) continue;
      for (const name of routeFiles(pathname, base)) this.#headers.set(name, headers);
    }
  }

  allow(page: string, sources: Sources): void {
    const headers = this.#headers.get(page);
    const policy = headers?.get(header);
    if (headers !== undefined && policy != null) headers.set(header, allowSources(policy, sources));
  }
}
