import { startTags } from '../markup/start-tags.ts';
import { attributesOf, readAttribute } from '../markup/tags.ts';

/** The CSS classes in HTML, each once and sorted. Elements in `<noscript>` and `<template>` count, too. */
export function classesIn(html: string): string[] {
  if (!/\bclass\b/i.test(html)) return [];
  const names = startTags(html).flatMap(
    (tag) => readAttribute(attributesOf(html, tag), 'class')?.split(/[\t\n\f\r ]+/) ?? [],
  );
  return [...new Set(names.filter(Boolean))].sort();
}
