import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

export type Element = DefaultTreeAdapterTypes.Element;
export type Fragment = DefaultTreeAdapterTypes.DocumentFragment;

/** Parses as a browser that runs scripts does, and remembers where in the HTML everything stands. */
export function parse(html: string, onError?: (code: string) => void): Fragment {
  return parseFragment(html, {
    sourceCodeLocationInfo: true,
    ...(onError === undefined ? {} : { onParseError: ({ code }) => onError(code) }),
  });
}

/** Every element in the order of its start tag; with `templates`, those inside a `<template>` too. */
export function* elementsOf(fragment: Fragment, { templates = false } = {}): Generator<Element> {
  // No recursion: content may be nested deeper than the stack is.
  const open = [...fragment.childNodes].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!('tagName' in node)) continue;
    yield node;
    const inside = templates && 'content' in node ? node.content.childNodes : [];
    for (const child of [...node.childNodes, ...inside].reverse()) open.push(child);
  }
}

/** The elements around one, the innermost first. */
export function* ancestorsOf({ parentNode }: Element): Generator<Element> {
  for (let node = parentNode; node !== null && 'tagName' in node; node = node.parentNode) yield node;
}

/** The text in a script or a style, as a browser would run it. */
export function textOf({ childNodes }: Element): string {
  return childNodes.map((node) => ('value' in node ? node.value : '')).join('');
}
