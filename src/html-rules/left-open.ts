import { ancestorsOf, type Element, elementsOf, parse } from './parsed-html.ts';

// A browser shows or runs nothing of what stands in these as if it were a part of the page around them.
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
 * Says what a piece of HTML leaves open that would swallow what follows it on a page: a comment, a tag, a quote, an
 * element such as `<textarea>` or `<template>`. Nothing, where what follows is shown; an open `<p>` or `<b>` changes
 * how it looks and no more.
 */
export function leftOpen(html: string): string | undefined {
  // What follows: an element that is there afterwards, or is not.
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
