import { attributesOf, walk } from '../embed/html-scanner.ts';
import { attributeValue } from './edits.ts';

/** The names of classes in HTML, those in `<noscript>` and `<template>` too, each once, sorted. */
export function classesIn(html: string): string[] {
  if (!/\bclass\b/i.test(html)) return [];
  const found = new Set<string>();
  walk(html, null, {
    open(tag, context) {
      const attribute = attributesOf(html, tag).find(({ name }) => name === 'class');
      const value = attribute === undefined ? '' : attributeValue(html, attribute);
      for (const name of value.split(/[\t\n\f\r ]+/)) if (name !== '') found.add(name);
      return context;
    },
  });
  return [...found].sort();
}

// An escaped character comes first: a quote in the name of a class begins no string.
const notSelectors = /\\[\s\S]|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g;
// A letter, a dash, an underscore, any other character but ASCII, or an escaped one; then digits, too.
const classSelector =
  /\.((?:[a-z_\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}[\t\n\f\r ]?|[^\n]))(?:[\w\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}[\t\n\f\r ]?|[^\n]))*)/gi;

/** The names of classes that a style sheet mentions. May contain more, such as the ends of file names. */
export function classesOfStyles(css: string): Set<string> {
  const found = new Set<string>();
  const selectors = css.replace(notSelectors, (found) => (found.startsWith('\\') ? found : ' '));
  for (const [, written = ''] of selectors.matchAll(classSelector)) {
    found.add(withoutEscapes(written));
  }
  return found;
}

function withoutEscapes(written: string): string {
  return written.replace(/\\(?:([0-9a-f]{1,6})[\t\n\f\r ]?|([\s\S]))/gi, (_whole, hex?: string, one = '') =>
    hex === undefined ? one : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
  );
}
