import { decodeHTMLAttribute } from 'entities/decode';
import { applyEdits, type Edit } from '../markup/edits.ts';
import { type StartTag, startTags } from '../markup/start-tags.ts';
import { type Attribute, attributesOf, replaceValue } from '../markup/tags.ts';

/**
 * Applies the edits of each start tag to HTML, and leaves every other byte as it is. Tags in `<noscript>` and
 * `<template>` are among them: a browser may show these.
 */
export function editTags(html: string, editsOf: (tag: StartTag, attributes: Attribute[]) => Edit[]): string {
  const edits = startTags(html).flatMap((tag) => editsOf(tag, attributesOf(html, tag)));
  return applyEdits(html, edits);
}

/** Replaces the URL of an attribute, or the URLs of a `srcset`. Empty if they all stay. */
export function replaceUrls(attribute: Attribute, replacement: (url: string) => string): Edit[] {
  const value = decodeHTMLAttribute(attribute.value);
  const changed = attribute.name === 'srcset' ? replaceCandidates(value, replacement) : replacement(value);
  return changed === value ? [] : [replaceValue(attribute, changed)];
}

/**
 * An image in a `srcset`, split as in browsers: the URL (group 1) up to white space, and what follows it
 * (group 2), descriptors up to a comma outside of parentheses. A comma inside a URL is part of it (`a,b.png
 * 2x`), commas at its end are not (`a.png, b.png`).
 */
const srcsetCandidate =
  /([^\t\n\f\r ,](?:[^\t\n\f\r ]*[^\t\n\f\r ,])?)(,+(?=[\t\n\f\r ]|$)|(?:[^,(]+|\([^)]*\)?)*)/g;

/** Replaces the URLs of a `srcset`, such as `small.png 480w, large.png 960w`. */
export const replaceCandidates = (srcset: string, replacement: (url: string) => string): string =>
  srcset.replace(srcsetCandidate, (_, url: string, descriptors: string) => replacement(url) + descriptors);
