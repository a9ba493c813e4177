import { isRunningType } from '../embed/syntax.ts';
import type { InlineAttribute, InlineCode } from './csp.ts';
import { hashSource } from './hash-source.ts';
import { elementsOf } from './parse.ts';
import { holdsScriptUrl } from './scripts.ts';

const htmlNamespace = 'http://www.w3.org/1999/xhtml';

/** Finds what a policy has to allow for HTML (Content Security Policy Level 3). */
export function findInlineCode(html: string): InlineCode {
  const scripts: string[] = [];
  const styles: string[] = [];
  const inlineAttributes: InlineAttribute[] = [];

  for (const { tagName, attrs, childNodes, namespaceURI } of elementsOf(html)) {
    const code = childNodes.map((node) => ('value' in node ? node.value : '')).join('');
    const attributes = new Map(attrs.map(({ name, value }) => [name, value]));
    // A script in an <svg> is loaded from its `href`.
    const isInline = !attributes.has(namespaceURI === htmlNamespace ? 'src' : 'href');

    if (tagName === 'script' && isInline && isRunningType(attributes.get('type')))
      scripts.push(hashSource(code));
    if (tagName === 'style') styles.push(hashSource(code));
    for (const { name, value } of attrs) {
      const kind = kindOfAttribute(name, value);
      if (kind) inlineAttributes.push({ kind, source: hashSource(value) });
    }
  }

  return { scripts, styles, attributes: inlineAttributes };
}

function kindOfAttribute(name: string, value: string): InlineAttribute['kind'] | undefined {
  if (name === 'style') return 'style';
  if (/^on./.test(name)) return 'handler';
  return holdsScriptUrl(value) ? 'url' : undefined;
}
