import { hashSource, type InlineCode } from './csp.ts';
import { elementsOf } from './parse.ts';

/** The script types that a policy applies to. A script of any other `type` is data, and never blocked. */
const javaScriptType = /^(|module|importmap|speculationrules|(text|application)\/(x-)?(java|ecma)script)$/;

/** Finds what a policy has to allow for HTML (Content Security Policy Level 3). */
export function findInlineCode(html: string): InlineCode {
  const scripts: string[] = [];
  const styles: string[] = [];
  let hasAttributes = false;

  for (const { tagName, attrs, childNodes } of elementsOf(html)) {
    const code = childNodes.map((node) => ('value' in node ? node.value : '')).join('');
    const attributes = new Map(attrs.map(({ name, value }) => [name, value]));
    // A script in an <svg> is loaded from its `href`, so it is not inline.
    const isInline = !attributes.has('src') && !attributes.has('href');
    const type = (attributes.get('type') ?? '').trim().toLowerCase();

    if (tagName === 'script' && isInline && javaScriptType.test(type)) scripts.push(hashSource(code));
    if (tagName === 'style') styles.push(hashSource(code));
    hasAttributes ||= attrs.some(({ name }) => name === 'style' || /^on./.test(name));
  }

  return { scripts, styles, hasAttributes };
}
