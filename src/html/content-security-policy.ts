import { hash } from 'node:crypto';
import { attributesOf, type Edit, readAttribute, replaceValue, walk } from '../embed/html-scanner.ts';
import { asBytes, decodeAttribute } from '../embed/layers.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import { routeFiles } from '../settings/site-urls.ts';
import type { InlineCode } from './parsed-html.ts';

/** Names a script or a style in a policy. */
export function hashSource(code: string): string {
  return `'sha256-${hash('sha256', code, 'base64')}'`;
}

/** `'sha256-…'`, by the directive they are for. */
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

/** What a page has to allow, each once. */
export function sourcesOf(
  contents: readonly { inlineCode: InlineCode | undefined }[],
  { policy, editLinks }: SourceRules,
): Sources {
  const codes = policy === 'hash' ? contents.flatMap(({ inlineCode }) => inlineCode ?? []) : [];
  const scripts = [editLinks ?? [], ...codes.map((code) => code.scripts)].flat();
  return { scripts: [...new Set(scripts)], styles: [...new Set(codes.flatMap((code) => code.styles))] };
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
  const words = directives.map((directive) => directive.trim().split(/\s+/));
  const names = words.map(([name]) => name?.toLowerCase());
  // The most specific directive decides, and of several with the same name the first.
  const deciding = [`${kind}-elem`, kind, 'default-src'].find((name) => names.includes(name));
  const index = names.indexOf(deciding);
  const [name, ...allowed] = words[index] ?? [];
  const missing = sources.filter((source) => !allowed.includes(source));
  const isWithoutHashes = !allowed.some((source) => /^'(nonce-|sha\d+-|strict-dynamic')/i.test(source));
  const allowsAll = isWithoutHashes && allowed.some((source) => /^'unsafe-inline'$/i.test(source));
  if (deciding === undefined || missing.length === 0 || allowsAll) return policy;
  const list = [...allowed.filter((source) => source.toLowerCase() !== "'none'"), ...missing];
  // In its own directive, so that nothing else that default-src decides about changes.
  if (deciding === 'default-src') {
    const others = directives.filter((one, at) => one.trim() !== '' || at === 0);
    return [...others, ` ${[kind, ...list].join(' ')}`].join(';');
  }
  const space = /^\s*/.exec(directives[index] ?? '')?.[0] ?? '';
  return directives.with(index, space + [name, ...list].join(' ')).join(';');
}

const header = 'content-security-policy';

/** Lets the policies in the head of a page, the only ones that browsers obey, allow sources: an edit each, even if nothing changes. */
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
    close(name, _place, _context, isImplied) {
      isOver ||= name === 'head' && !isImplied;
    },
    isDone: () => isOver,
  });
  return edits;
}

/** Allows sources in the policies that are sent as headers. Routes may begin with the site's base path. */
export function headerPolicies(
  routes: RouteToHeaders,
  base: string,
): (page: string, sources: Sources) => void {
  const headersOf = new Map<string, Headers>();
  for (const [pathname, { headers }] of routes)
    for (const name of routeFiles(pathname, base)) headersOf.set(name, headers);
  return (page, sources) => {
    const headers = headersOf.get(page);
    const policy = headers?.get(header);
    if (policy != null) headers?.set(header, allowSources(policy, sources));
  };
}
