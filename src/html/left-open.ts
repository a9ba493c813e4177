import { ancestorsOf, type Element, elementsOf, parse } from './parsed-html.ts';

// A browser does not show the contents of these as part of the page around them.
const hides = new Set(
  `audio canvas details dialog iframe math noembed noframes noscript object plaintext script select style svg
  template textarea title video xmp`.split(/\s+/),
);

const constructs: Readonly<Record<string, string>> = {
  'eof-in-comment': 'a comment',
  'eof-in-tag': 'a tag, or a quote in it,',
  'eof-in-doctype': 'a doctype',
  'eof-in-cdata': 'a CDATA section',
};

/**
 * Names what a piece of HTML leaves open that would swallow the rest of a page: a comment, a tag, a quote, or an element
 * such as `<textarea>` or `<template>`. Returns `undefined` if what follows is shown; an open `<p>` or `<b>` only
 * changes how it looks.
 *
 * @param before what precedes the HTML: one of `contexts`.
 */
export function leftOpen(html: string, before = ''): string | undefined {
  const whole = before + html;
  // Stands for the rest of the page: after parsing, it is an element of its own or was swallowed.
  const parsed = parse(`${whole}<snippet-end></snippet-end>`);
  // Of usual HTML, one inside a <template> was swallowed by it.
  for (const element of elementsOf(parsed, { templates: before !== '' })) {
    const { tagName, sourceCodeLocation: place } = element;
    if (tagName !== 'snippet-end' || place?.startOffset !== whole.length) continue;
    const around = [...ancestorsOf(element)].findLast(
      (ancestor) => hides.has(ancestor.tagName) && begins(ancestor, before.length),
    );
    return around && `<${around.tagName}>`;
  }
  // In <noscript> and <select>, one may be missing although nothing is open.
  return swallower(whole, before.length) ?? (before === '' ? 'a comment or a tag' : undefined);
}

function begins({ sourceCodeLocation }: Element, offset: number): boolean {
  return sourceCodeLocation != null && sourceCodeLocation.startOffset >= offset;
}

/** What does not end, of what begins at an offset or later. */
function swallower(html: string, from: number): string | undefined {
  const errors: string[] = [];
  const fragment = parse(html, (code) => errors.push(code));
  const construct = errors.map((code) => constructs[code]).find((name) => name !== undefined);
  if (construct !== undefined) return construct;
  const isOpen = (element: Element) =>
    hides.has(element.tagName) && begins(element, from) && element.sourceCodeLocation?.endTag === undefined;
  const open = [...elementsOf(fragment)].findLast(isOpen);
  return open && `<${open.tagName}>`;
}
