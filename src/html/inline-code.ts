import { hashSource } from './content-security-policy.ts';
import { type Element, elementsOf, parse, textOf } from './parsed-html.ts';

/** What a page's Content Security Policy has to allow for a piece of HTML to work. */
export interface InlineCode {
  /** Sources of its scripts and its styles, as a policy names them: `'sha256-…'`. */
  scripts: string[];
  styles: string[];
  /** Whether it has event handlers or style attributes, which no hash can allow. */
  hasAttributes: boolean;
}

// A script of any other `type` is a data block, which policies ignore.
const runs = /^(|module|importmap|speculationrules|(text|application)\/(x-)?(java|ecma)script)$/;

/** Finds the inline scripts and styles of HTML, as a policy sees them (Content Security Policy Level 3). */
export function findInlineCode(html: string): InlineCode {
  const code: InlineCode = { scripts: [], styles: [], hasAttributes: false };
  for (const element of elementsOf(parse(html))) {
    if (isInlineScript(element)) code.scripts.push(hashSource(textOf(element)));
    if (element.tagName === 'style') code.styles.push(hashSource(textOf(element)));
    code.hasAttributes ||= element.attrs.some(({ name }) => name === 'style' || /^on./.test(name));
  }
  return code;
}

function isInlineScript({ tagName, attrs }: Element): boolean {
  if (tagName !== 'script' || attrs.some(({ name }) => name === 'src' || name === 'href')) return false;
  return runs.test((attrs.find(({ name }) => name === 'type')?.value ?? '').trim().toLowerCase());
}
