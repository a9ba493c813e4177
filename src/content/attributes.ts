import { decodeHTMLAttribute } from 'entities/decode';
import { applyEdits, type Edit } from '../markup/edits.ts';
import { type StartTag, startTags } from '../markup/start-tags.ts';
import { type Attribute, attributesOf, replaceValue } from '../markup/tags.ts';

/** Also in `<noscript>` and `<template>`, which a browser may show. Every other byte stays. */
export function editTags(html: string, editsOf: (tag: StartTag, attributes: Attribute[]) => Edit[]): string {
  const edits = startTags(html).flatMap((tag) => editsOf(tag, attributesOf(html, tag)));
  return applyEdits(html, edits);
}

// As in browsers: a URL up to white space, and descriptors up to a comma outside of parentheses.
const srcsetCandidate =
  /([^\t\n\f\r ,](?:[^\t\n\f\r ]*[^\t\n\f\r ,])?)(,+(?=[\t\n\f\r ]|$)|(?:[^,(]+|\([^)]*\)?)*)/g;

export const replaceCandidates = (srcset: string, replacement: (url: string) => string): string =>
  srcset.replace(srcsetCandidate, (_, url: string, rest: string) => replacement(url) + rest);

export function replaceUrls(attribute: Attribute, replacement: (url: string) => string): Edit[] {
  const value = decodeHTMLAttribute(attribute.value);
  const changed = attribute.name === 'srcset' ? replaceCandidates(value, replacement) : replacement(value);
  return changed === value ? [] : [replaceValue(attribute, changed)];
}
