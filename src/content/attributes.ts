import { decodeHTMLAttribute } from 'entities/decode';
import { applyEdits, type Edit } from '../markup/edits.ts';
import { type StartTag, startTags } from '../markup/start-tags.ts';
import { type Attribute, attributesOf, readAttribute, replaceValue } from '../markup/tags.ts';

/** Edits start tags of HTML, those in `<noscript>` and `<template>` too: a browser may show these. */
export function editTags(html: string, editsOf: (tag: StartTag, attributes: Attribute[]) => Edit[]): string {
  const edits = startTags(html).flatMap((tag) => editsOf(tag, attributesOf(html, tag)));
  return applyEdits(html, edits);
}

/** The CSS classes in HTML, each once and sorted. Elements in `<noscript>` and `<template>` count, too. */
export function classesIn(html: string): string[] {
  if (!/\bclass\b/i.test(html)) return [];
  const names = startTags(html).flatMap(
    (tag) => readAttribute(attributesOf(html, tag), 'class')?.split(/[\t\n\f\r ]+/) ?? [],
  );
  return [...new Set(names.filter(Boolean))].sort();
}

/** How to replace the URLs of attributes that list several: images, or URLs with spaces between. */
const replaceInLists: ReadonlyMap<string, typeof replaceCandidates> = new Map([
  ['srcset', (list, replacement) => replaceCandidates(list, replacement)],
  ['imagesrcset', (list, replacement) => replaceCandidates(list, replacement)],
  ['ping', (list, replacement) => list.replace(/[^\t\n\f\r ]+/g, (url) => replacement(url))],
]);

/** Returns the edit that replaces the URL of an attribute, or the URLs of a list; no edit if all stay. */
export function replaceUrls(attribute: Attribute, replacement: (url: string) => string): Edit[] {
  const value = decodeHTMLAttribute(attribute.value);
  const changed = replaceInLists.get(attribute.name)?.(value, replacement) ?? replacement(value);
  return changed === value ? [] : [replaceValue(attribute, changed)];
}

/**
 * An image in a `srcset`: the URL (group 1) up to white space, and descriptors (group 2) up to a comma
 * outside of parentheses. A comma inside a URL is part of it (`a,b.png 2x`), at its end not (`a.png, b.png`).
 */
const srcsetCandidate =
  /([^\t\n\f\r ,](?:[^\t\n\f\r ]*[^\t\n\f\r ,])?)(,+(?=[\t\n\f\r ]|$)|(?:[^,(]+|\([^)]*\)?)*)/g;

/** Replaces the URLs of a `srcset`, such as `small.png 480w, large.png 960w`. */
export const replaceCandidates = (srcset: string, replacement: (url: string) => string): string =>
  srcset.replace(srcsetCandidate, (_, url: string, descriptors: string) => replacement(url) + descriptors);
