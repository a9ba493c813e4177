import { hash } from 'node:crypto';
import type { Edit } from '../markup/edits.ts';
import { decodeAttribute, toByteString } from '../markup/latin1.ts';
import { attributesOf, readAttribute, replaceValue } from '../markup/tags.ts';
import { walk } from '../markup/walk.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { HtmlRules } from '../settings/options.ts';
import { routeFiles } from '../settings/site-urls.ts';

/** What a policy has to allow for some HTML (Content Security Policy Level 3). */
export interface InlineCode {
  /** The hashes of inline scripts, as a policy writes them. */
  scripts: string[];
  /** The hashes of inline style sheets, as a policy writes them. */
  styles: string[];
  /** Whether there are event handlers or style attributes, which no hash can allow. */
  hasAttributes: boolean;
}

export const hashSource = (code: string) => `'sha256-${hash('sha256', code, 'base64')}'`;

export type Sources = Pick<InlineCode, 'scripts' | 'styles'>;

/** With the source of the script for edit links, if pages have it. */
export type SourceRules = Pick<HtmlRules, 'policy'> & { editLinks?: string | undefined };

export function sourcesOf(
  contents: readonly { inlineCode: InlineCode | undefined }[],
  { policy, editLinks }: SourceRules,
): {
  scripts: string[];
  styles: string[];
} {
  const codes = policy === 'hash' ? contents.flatMap(({ inlineCode }) => inlineCode ?? []) : [];
  const scripts = new Set([editLinks ?? [], ...codes.map((code) => code.scripts)].flat());
  return { scripts: [...scripts], styles: [...new Set(codes.flatMap((code) => code.styles))] };
}

/** Adds sources to policies, of which a header may have several. One with 'unsafe-inline', which a hash disables, allows all. */
export function allowSources(policy: string, { scripts, styles }: Sources): string {
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
      if (content && readAttribute(attributes, 'http-equiv')?.toLowerCase() === policyHeader) {
        const policy = decodeAttribute(content.value);
        const allowed = allowSources(policy, sources);
        const edit = replaceValue(content, allowed);
        edits.push({ ...edit, text: allowed === policy ? content.value : toByteString(edit.text) });
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
  return (page: string, sources: Sources): void => {
    const headers = known.get(page);
    const policy = headers?.get(policyHeader);
    if (policy) headers?.set(policyHeader, allowSources(policy, sources));
  };
}
