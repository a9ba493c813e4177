import { hashSource } from './csp.ts';
import { elementsOf } from './parse.ts';

// A script of any other `type` is a data block, which policies ignore.
const javaScriptType = /^(|module|importmap|speculationrules|(text|application)\/(x-)?(java|ecma)script)$/;

/** What a policy has to allow for HTML (Content Security Policy Level 3). */
export function findInlineCode(html: string): {
  scripts: string[];
  styles: string[];
  hasAttributes: boolean;
} {
  const scripts: string[] = [];
  const styles: string[] = [];
  /** Event handlers or style attributes, which no hash can allow. */
  let hasAttributes = false;
  for (const { tagName, attrs, childNodes } of elementsOf(html)) {
    const text = childNodes.map((node) => ('value' in node ? node.value : '')).join('');
    const given = new Map(attrs.map(({ name, value }) => [name, value]));
    const isInline = !given.has('src') && !given.has('href');
    const type = (given.get('type') ?? '').trim().toLowerCase();
    if (tagName === 'script' && isInline && javaScriptType.test(type)) scripts.push(hashSource(text));
    if (tagName === 'style') styles.push(hashSource(text));
    hasAttributes ||= attrs.some(({ name }) => name === 'style' || /^on./.test(name));
  }
  return { scripts, styles, hasAttributes };
}
