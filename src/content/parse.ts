import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

// This module, and those that import it, are imported dynamically only: most contents need no parser.

/** An element of parse5's tree. */
export type ParsedElement = DefaultTreeAdapterTypes.Element;

/**
 * Places where content may be put, as the start tags before it: what is text in one place is a script in
 * another. Any place in a page is like one of these.
 */
export const contexts: string[] =
  ' <noscript> <svg> <svg><foreignObject> <math><mtext> <select> <table> <template>'.split(' ');

interface ElementsOptions {
  /** Whether to list the elements in a `<template>`, too. @default false */
  templates?: boolean;
  /** A list to which the codes of parse errors are added, as the HTML standard names them. */
  errors?: string[];
}

/** All elements of HTML in document order, as a browser that runs scripts parses it. */
export function elementsOf(
  html: string,
  { templates = false, errors }: ElementsOptions = {},
): ParsedElement[] {
  const fragment = parseFragment(html, {
    sourceCodeLocationInfo: true,
    onParseError: errors ? ({ code }) => errors.push(code) : null,
  });

  // A stack instead of recursion: content may be nested deeper than calls can be.
  const elements: ParsedElement[] = [];
  const stack = [...fragment.childNodes].reverse();
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (!('tagName' in node)) continue;
    elements.push(node);
    const inTemplate = templates && 'content' in node ? node.content.childNodes : [];
    for (const child of [...node.childNodes, ...inTemplate].reverse()) stack.push(child);
  }
  return elements;
}
