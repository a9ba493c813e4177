import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

export type Element = DefaultTreeAdapterTypes.Element;

/**
 * Where HTML may be put, as the start tags before it. A browser reads the same HTML in different ways there: what is text
 * in one is an element, and so a script, in another. Other places are like one of these. Usual HTML is first.
 */
export const contexts: readonly string[] = [
  '',
  '<noscript>',
  '<svg>',
  '<svg><foreignObject>',
  '<math><mtext>',
  '<select>',
  '<table>',
  '<template>',
];

/**
 * All elements of HTML as a browser with scripting parses it, with their places, in the order of their start tags.
 *
 * @param options.templates whether to look inside `<template>`, too.
 * @param options.onError is called with the code of each error.
 */
export function* elementsOf(
  html: string,
  { templates = false, onError }: { templates?: boolean; onError?: (code: string) => void } = {},
): Generator<Element> {
  const fragment = parseFragment(html, {
    sourceCodeLocationInfo: true,
    onParseError: onError ? ({ code }) => onError(code) : null,
  });
  // Without recursion, since content may be nested deeper than the call stack allows.
  const open = [...fragment.childNodes].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!('tagName' in node)) continue;
    yield node;
    const inside = templates && 'content' in node ? node.content.childNodes : [];
    for (const child of [...node.childNodes, ...inside].reverse()) open.push(child);
  }
}
