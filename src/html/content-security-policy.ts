import { hash } from 'node:crypto';
import { attributesOf, type Edit, readAttribute, replaceValue, walk } from '../embed/html-scanner.ts';
import { asBytes, decodeAttribute } from '../embed/inline.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { HtmlRules } from '../settings/options.ts';
import { routeFiles } from '../settings/site-urls.ts';

export function hashSource(code: string): string {
  return `'sha256-${hash('sha256', code, 'base64')}'`;
}

export interface Sources {
  scripts: readonly string[];
  styles: readonly string[];
}

/** What a policy has to allow for HTML. */
export interface InlineCode extends Sources {
  /** Event handlers or style attributes, which no hash can allow. */
  hasAttributes: boolean;
}

/** With the source of the script for edit links, if pages have it. */
export type SourceRules = Pick<HtmlRules, 'policy'> & { editLinks?: string | undefined };

export function sourcesOf(
  contents: readonly { inlineCode: InlineCode | undefined }[],
  { policy, editLinks }: SourceRules,
): Sources {
  const codes = policy === 'hash' ? contents.flatMap(({ inlineCode }) => inlineCode ?? []) : [];
  const scripts = new Set([editLinks ?? [], ...codes.map((code) => code.scripts)].flat());
  return { scripts: [...scripts], styles: [...new Set(codes.flatMap((code) => code.styles))] };
}

/**
 * Adds sources to a Content Security Policy, or to several as in a header, where it decides about inline scripts and styles.
 * With 'unsafe-inline', which a hash would disable, it already allows all.
 */
export function allowSources(policy: string, { scripts, styles }: Sources): string {
  return policy
    .split(',')
    .map((one) => allow(allow(one, 'script-src', scripts), 'style-src', styles))
    .join(',');
}

function allow(policy: string, kind: 'script-src' | 'style-src', sources: readonly string[]): string {
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
  if (deciding === undefined || missing.length === 0 || allowsAll) return policy;
  const list = [...allowed.filter((source) => source.toLowerCase() !== "'none'"), ...missing];
  // A new directive: default-src decides about more.
  if (deciding === 'default-src') {
    const others = directives.filter((one, at) => one.trim() !== '' || at === 0);
    return [...others, ` ${[kind, ...list].join(' ')}`].join(';');
  }
  const space = /^\s*/.exec(directives[index] ?? '')?.[0] ?? '';
  return directives.with(index, space + [name, ...list].join(' ')).join(';');
}

const header = 'content-security-policy';

/** Edits each policy in the head of a page, even if nothing changes. Browsers obey no others. */
export function allowInPage(page: Buffer, sources: Sources): Edit[] {
  const html = page.toString('latin1');
  if (!/content-security-policy/i.test(html)) return [];
  const edits: Edit[] = [];
  let isOver = false;
  walk(html, null, {
    open(tag, context) {
      isOver ||= tag.name === 'body';
      const attributes = tag.name === 'meta' && !isOver ? attributesOf(html, tag) : [];
      const content = attributes.find(({ name }) => name === 'content');
      if (content && readAttribute(attributes, 'http-equiv')?.toLowerCase() === header) {
        const policy = decodeAttribute(content.value);
        const allowed = allowSources(policy, sources);
        const { start, end, text } = replaceValue(content, allowed);
        edits.push({ start, end, text: allowed === policy ? content.value : asBytes(text) });
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

/** Allows sources in policies that are sent as headers. Routes may begin with the site's base path. */
export function headerPolicies(routes: RouteToHeaders, base: string) {
  const headersOf = new Map<string, Headers>();
  for (const [pathname, { headers }] of routes)
    for (const name of routeFiles(pathname, base)) headersOf.set(name, headers);
  return (page: string, sources: Sources): void => {
    const headers = headersOf.get(page);
    const policy = headers?.get(header);
    if (policy != null) headers?.set(header, allowSources(policy, sources));
  };
}
