import { cleanText } from '../client/clean-text.ts';
import type { Params } from '../client/params.ts';
import { SnippetError, type SnippetErrorCode } from '../client/snippet-error.ts';
import type { SourcedSnippet } from '../snippet-source.ts';
import type { InlineCode } from './inline-code.ts';

/** What has to be true of a content before it goes into a page as HTML. */
export interface HtmlRules {
  sanitize: ((html: string, snippet: { id: number; params: Params | undefined }) => string) | undefined;
  scripts: 'allow' | 'strip' | 'error';
  /** Whether HTML that would swallow what follows it is an error. */
  strict: boolean;
  /** What becomes of inline scripts and styles: nothing, a warning, or their hashes in the page's policy. */
  policy: 'none' | 'warn' | 'hash';
}

/** A snippet that has been made ready for pages. */
export interface PreparedSnippet extends SourcedSnippet {
  /** What goes into a page as HTML. As text it is `content`, as the service gave it: that is escaped anyway. */
  html: string;
  /** What is wrong with it and does not keep it from being shown; each names the snippet. */
  warnings: string[];
  /** What has to be added to the policy of a page. */
  inlineCode: InlineCode | undefined;
}

/** A content that is shown as text alone. */
export function unprepared(snippet: SourcedSnippet): PreparedSnippet {
  return { ...snippet, html: snippet.content, warnings: [], inlineCode: undefined };
}

/** The snippet that a content belongs to. `params` is canonical JSON or nothing. */
export interface SnippetName {
  id: number;
  params: string | undefined;
}

const describeFound: Readonly<
  Record<Exclude<HtmlRules['policy'], 'none'>, (code: InlineCode) => string | undefined>
> = {
  warn: ({ scripts, styles, hasAttributes }) => {
    const found = [
      ...(scripts.length > 0 ? ['an inline script'] : []),
      ...(styles.length > 0 ? ['an inline style'] : []),
      ...(hasAttributes ? ['event handlers or style attributes'] : []),
    ];
    if (found.length === 0) return undefined;
    return `holds ${found.join(' and ')}, which the Content Security Policy of the site does not allow: browsers will ignore it. With csp: 'hash', scripts and styles are allowed by their hashes.`;
  },
  hash: ({ hasAttributes }) =>
    hasAttributes
      ? 'holds event handlers or style attributes, which no hash in a Content Security Policy allows: browsers will ignore them.'
      : undefined,
};

/**
 * Makes a content ready to stand in a page as HTML: sanitised, without scripts where none are wanted, and checked.
 *
 * @throws SnippetError `sanitize-failed`, `script-refused` or `left-open`
 */
export async function applyRules(
  snippet: SourcedSnippet,
  name: SnippetName,
  rules: HtmlRules,
): Promise<PreparedSnippet> {
  const prepared = unprepared(snippet);
  prepared.html = sanitized(snippet.content, name, rules);
  // Text without a tag has none of what follows; most snippets are short and plain.
  if (!prepared.html.includes('<')) return prepared;
  prepared.html = await withoutScripts(prepared.html, name, rules);
  const open = await findOpen(prepared.html, name, rules);
  prepared.inlineCode = await findCode(prepared.html, rules);
  const blocked =
    prepared.inlineCode && rules.policy !== 'none' && describeFound[rules.policy](prepared.inlineCode);
  for (const flaw of [open, blocked]) if (flaw) prepared.warnings.push(`Snippet ${name.id} ${flaw}`);
  return prepared;
}

function sanitized(html: string, name: SnippetName, { sanitize }: HtmlRules): string {
  if (sanitize === undefined) return html;
  let clean: unknown;
  try {
    clean = sanitize(html, { id: name.id, params: name.params && JSON.parse(name.params) });
  } catch (error) {
    const reason = cleanText(String((error as Error)?.message ?? error));
    throw refusal('sanitize-failed', name, `could not be sanitised: ${reason}`);
  }
  if (typeof clean === 'string') return clean;
  throw refusal(
    'sanitize-failed',
    name,
    `could not be sanitised: sanitize returned ${typeof clean}, no string`,
  );
}

async function withoutScripts(html: string, name: SnippetName, { scripts }: HtmlRules): Promise<string> {
  if (scripts === 'allow') return html;
  const { findScripts, stripScripts } = await import('./scripts.ts');
  if (scripts === 'strip') return stripScripts(html);
  const [script] = findScripts(html);
  if (script === undefined) return html;
  throw refusal('script-refused', name, `holds ${script.what}.`);
}

async function findOpen(html: string, name: SnippetName, { strict }: HtmlRules): Promise<string | undefined> {
  const { leftOpen } = await import('./left-open.ts');
  const open = leftOpen(html);
  if (open === undefined) return undefined;
  const flaw = `leaves ${open} open, which swallows what follows it on the page.`;
  if (strict) throw refusal('left-open', name, flaw);
  return flaw;
}

async function findCode(html: string, { policy }: HtmlRules): Promise<InlineCode | undefined> {
  if (policy === 'none') return undefined;
  const { findInlineCode } = await import('./inline-code.ts');
  return findInlineCode(html);
}

function refusal(code: SnippetErrorCode, { id }: SnippetName, flaw: string): SnippetError {
  return new SnippetError(code, `Snippet ${id} ${flaw}`, { snippetId: id });
}
