import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

export type Element = DefaultTreeAdapterTypes.Element;
export type Fragment = DefaultTreeAdapterTypes.DocumentFragment;

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

/** Parses HTML as a browser with scripting does, with source locations. */
export function parse(html: string, onError?: (code: string) => void): Fragment {
  return parseFragment(html, {
    sourceCodeLocationInfo: true,
    ...(onError === undefined ? {} : { onParseError: ({ code }) => onError(code) }),
  });
}

/** All elements in the order of their start tags; with `templates`, those inside a `<template>` too. */
export function* elementsOf(fragment: Fragment, { templates = false } = {}): Generator<Element> {
  // Without recursion, since content may be nested deeper than the call stack allows.
  const open = [...fragment.childNodes].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!('tagName' in node)) continue;
    yield node;
    const inside = templates && 'content' in node ? node.content.childNodes : [];
    for (const child of [...node.childNodes, ...inside].reverse()) open.push(child);
  }
}

/** The ancestors of an element, the innermost first. */
export function* ancestorsOf({ parentNode }: Element): Generator<Element> {
  for (let node = parentNode; node !== null && 'tagName' in node; node = node.parentNode) yield node;
}

/** The text of a script or a style, as a browser runs it. */
export function textOf({ childNodes }: Element): string {
  return childNodes.map((node) => ('value' in node ? node.value : '')).join('');
}
