import { type Element, elementsOf } from './parsed-html.ts';

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
  const swallows = ({ tagName, sourceCodeLocation: place }: Element) =>
    hides.has(tagName) && place != null && place.startOffset >= before.length;
  // Stands for the rest of the page: after parsing, it is an element of its own or was swallowed.
  const rest = '<snippet-end></snippet-end>';
  // Of usual HTML, one inside a <template> was swallowed by it.
  for (const element of elementsOf(whole + rest, { templates: before !== '' })) {
    const { tagName, sourceCodeLocation: place } = element;
    if (tagName !== 'snippet-end' || place?.startOffset !== whole.length) continue;
    let around: Element | undefined;
    for (let node = element.parentNode; node && 'tagName' in node; node = node.parentNode) {
      if (swallows(node)) around = node;
    }
    return around && `<${around.tagName}>`;
  }
  // In <noscript> and <select>, one may be missing although nothing is open.
  const errors: string[] = [];
  const elements = [...elementsOf(whole, { onError: (code) => errors.push(code) })];
  const construct = errors.map((code) => constructs[code]).find((name) => name !== undefined);
  const open = elements.findLast((one) => swallows(one) && one.sourceCodeLocation?.endTag === undefined);
  return construct ?? (open && `<${open.tagName}>`) ?? (before === '' ? 'a comment or a tag' : undefined);
}
