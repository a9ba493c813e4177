import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import {
  type Attribute,
  applyEdits,
  attributesOf,
  type Edit,
  type Range,
  type Tag,
  walk,
} from '../embed/html-scanner.ts';

/** The value of an attribute, as a browser reads it. */
export function readAttribute(html: string, tag: Range, name: string): string | undefined {
  return attributeIn(attributesOf(html, tag), name);
}

/** The same, of attributes that were read. Of two with one name, browsers take the first. */
export function attributeIn(attributes: readonly Attribute[], name: string): string | undefined {
  const found = attributes.find((attribute) => attribute.name === name);
  return found && decodeHTMLAttribute(found.value);
}

/** Gives an attribute another value. Its quotes stay. */
export function replaceValue({ start, end, quote }: Attribute, value: string): Edit {
  const escaped = escapeAttribute(value);
  if (quote === "'") return { start, end, text: escaped.replaceAll("'", '&#39;') };
  return { start, end, text: quote === '' ? `"${escaped}"` : escaped };
}

/** Changes tags. Every other byte stays. Also in `<noscript>` and `<template>`: a browser may show what is in there. */
export function editTags(
  html: string,
  editsOf: (tag: Tag, attributes: readonly Attribute[], parent: string) => readonly Edit[],
): string {
  const edits: Edit[] = [];
  walk(html, '', {
    open(tag, parent) {
      edits.push(...editsOf(tag, attributesOf(html, tag), parent));
      return tag.name;
    },
  });
  return applyEdits(html, edits);
}

// As browsers split it: a URL ends at white space or at the commas behind it; without these, descriptors follow up to a
// comma that is not between parentheses.
const candidate =
  /([^\t\n\f\r ,](?:[^\t\n\f\r ]*[^\t\n\f\r ,])?)(,+(?=[\t\n\f\r ]|$)|(?:[^,(]+|\([^)]*\)?)*)/g;

/** Replaces the URLs of a `srcset`. Every other byte stays. */
export function replaceCandidates(srcset: string, replacement: (url: string) => string): string {
  return srcset.replace(candidate, (_, url: string, rest: string) => replacement(url) + rest);
}

/** Replaces the URL of an attribute, or those of a `srcset`. */
export function replaceUrls(attribute: Attribute, replacement: (url: string) => string): Edit[] {
  const value = decodeHTMLAttribute(attribute.value);
  const changed = attribute.name === 'srcset' ? replaceCandidates(value, replacement) : replacement(value);
  return changed === value ? [] : [replaceValue(attribute, changed)];
}
