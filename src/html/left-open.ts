import { ancestorsOf, type Element, elementsOf, parse } from './parsed-html.ts';

// A browser does not show the contents of these as part of the page around them.
const hides = new Set(
  `audio canvas details dialog iframe math noembed noframes noscript object plaintext script select style svg
  template textarea title video xmp`.split(/\s+/),
);

const constructs: Readonly<Record<string, string>> = {
  'eof-in-comment': 'a comment',
  'eof-in-tag': 'a tag, or a quote in it,',
  'eof-before-tag-name': 'a tag',
  'eof-in-doctype': 'a doctype',
  'eof-in-cdata': 'a CDATA section',
};

/**
 * Names what a piece of HTML leaves open that would swallow the rest of a page: a comment, a tag, a quote, or an element
 * such as `<textarea>` or `<template>`. Returns `undefined` if what follows is shown; an open `<p>` or `<b>` only
 * changes how it looks.
 */
export function leftOpen(html: string): string | undefined {
  // Stands for the rest of the page: after parsing, it is an element of its own or was swallowed.
  for (const element of elementsOf(parse(`${html}<snippet-end></snippet-end>`))) {
    if (element.tagName !== 'snippet-end' || element.sourceCodeLocation?.startOffset !== html.length)
      continue;
    const around = [...ancestorsOf(element)].findLast(({ tagName }) => hides.has(tagName));
    return around && `<${around.tagName}>`;
  }
  return swallower(html);
}

function swallower(html: string): string {
  const errors: string[] = [];
  const fragment = parse(html, (code) => errors.push(code));
  const construct = errors.map((code) => constructs[code]).find((name) => name !== undefined);
  if (construct !== undefined) return construct;
  const isOpen = ({ tagName, sourceCodeLocation }: Element) =>
    hides.has(tagName) && sourceCodeLocation != null && sourceCodeLocation.endTag === undefined;
  const open = [...elementsOf(fragment)].findLast(isOpen);
  return open === undefined ? 'a comment or a tag' : `<${open.tagName}>`;
}
