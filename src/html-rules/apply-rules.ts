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
  { id, params }: SnippetName,
  { sanitize, scripts, strict, policy }: HtmlRules,
): Promise<PreparedSnippet> {
  const fail = (code: SnippetErrorCode, flaw: string) => {
    throw new SnippetError(code, `Snippet ${id} ${flaw}`, { snippetId: id });
  };
  const prepared = unprepared(snippet);
  const warn = (flaw: string | undefined) => {
    if (flaw !== undefined) prepared.warnings.push(`Snippet ${id} ${flaw}`);
  };

  if (sanitize !== undefined) {
    try {
      prepared.html = sanitize(snippet.content, { id, params: params && JSON.parse(params) });
    } catch (error) {
      fail(
        'sanitize-failed',
        `could not be sanitised: ${cleanText(String((error as Error)?.message ?? error))}`,
      );
    }
    if (typeof prepared.html !== 'string') {
      fail('sanitize-failed', `could not be sanitised: sanitize returned ${typeof prepared.html}, no string`);
    }
  }
  // Text without a tag has none of what follows; most snippets are short and plain.
  if (!prepared.html.includes('<')) return prepared;

  if (scripts !== 'allow') {
    const { findScripts, stripScripts } = await import('./scripts.ts');
    const [script] = scripts === 'error' ? findScripts(prepared.html) : [];
    if (script !== undefined) fail('script-refused', `holds ${script.what}.`);
    prepared.html = stripScripts(prepared.html);
  }
  const { leftOpen } = await import('./left-open.ts');
  const open = leftOpen(prepared.html);
  if (open !== undefined) {
    const flaw = `leaves ${open} open, which swallows what follows it on the page.`;
    if (strict) fail('left-open', flaw);
    warn(flaw);
  }
  if (policy !== 'none') {
    const { findInlineCode } = await import('./inline-code.ts');
    prepared.inlineCode = findInlineCode(prepared.html);
    warn(describeFound[policy](prepared.inlineCode));
  }
  return prepared;
}
