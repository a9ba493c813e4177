import { hash } from 'node:crypto';
import { attributesOf, type Edit, readAttribute, replaceValue, walk } from '../embed/html-scanner.ts';
import { asBytes, decodeAttribute } from '../embed/inline.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { HtmlRules } from '../settings/options.ts';
import { routeFiles } from '../settings/site-urls.ts';
import type { InlineCode } from './parsed-html.ts';

export function hashSource(code: string) {
  return `'sha256-${hash('sha256', code, 'base64')}'`;
}

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

/**
 * Adds sources to a Content Security Policy, or to several as in a header. One with 'unsafe-inline', which a hash would disable,
 * allows all.
 */
export function allowSources(policy: string, { scripts, styles }: Sources) {
  return policy
    .split(',')
    .map((one) => allow(allow(one, 'script-src', scripts), 'style-src', styles))
    .join(',');
}

function allow(policy: string, kind: 'script-src' | 'style-src', sources: readonly string[]) {
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
      if (content && readAttribute(attributes, 'http-equiv')?.toLowerCase() === header) {
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

/** Allows sources in policies in headers. Routes may begin with the base path. */
export function headerPolicies(routes: RouteToHeaders, base: string) {
  const headersOf = [...routes].flatMap(([pathname, { headers }]) =>
    routeFiles(pathname, base).map((name) => [name, headers] as const),
  );
  const known = new Map(headersOf);
  return (page: string, sources: Sources) => {
    const headers = known.get(page);
    const policy = headers?.get(header);
    if (policy != null) headers?.set(header, allowSources(policy, sources));
  };
}
