import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

// Loaded only for content that needs a parser.

export type Element = DefaultTreeAdapterTypes.Element;

/** Where HTML may be, as the start tags before it: text in one place is a script in another. Any place is like one of these. */
export const contexts: string[] =
  ' <noscript> <svg> <svg><foreignObject> <math><mtext> <select> <table> <template>'.split(' ');

/** All elements as a browser with scripting parses them, in order; with `templates`, also theirs. `errors` gets error codes. */
export function elementsOf(
  html: string,
  { templates = false, errors }: { templates?: boolean; errors?: string[] } = {},
): Element[] {
  const fragment = parseFragment(html, {
    sourceCodeLocationInfo: true,
    onParseError: errors ? ({ code }) => errors.push(code) : null,
  });
  const elements: Element[] = [];
  // Without recursion: content may be nested deeper than the call stack allows.
  const open = [...fragment.childNodes].reverse();
  for (let node = open.pop(); node; node = open.pop()) {
    if (!('tagName' in node)) continue;
    elements.push(node);
    const inside = templates && 'content' in node ? node.content.childNodes : [];
    for (const child of [...node.childNodes, ...inside].reverse()) open.push(child);
  }
  return elements;
}
