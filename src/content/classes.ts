import { startTags } from '../markup/start-tags.ts';
import { attributesOf, readAttribute } from '../markup/tags.ts';

/** Also those in `<noscript>` and `<template>`. Each once, sorted. */
export function classesIn(html: string): string[] {
  if (!/\bclass\b/i.test(html)) return [];
  const names = startTags(html).flatMap(
    (tag) => readAttribute(attributesOf(html, tag), 'class')?.split(/[\t\n\f\r ]+/) ?? [],
  );
  return [...new Set(names.filter(Boolean))].sort();
}
