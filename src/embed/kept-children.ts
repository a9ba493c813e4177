import type { Range } from '../markup/edits.ts';
import { attributesOf, type Tag } from '../markup/tags.ts';
import { walk } from '../markup/walk.ts';

/** What kind of script the page needs elsewhere, by its text. Astro writes no attributes on these. */
const pageScripts: readonly RegExp[] = [
  // The `client:*` directives, which come with the first island of a page, and a site's own ones.
  /\bself\.Astro\s*\|\|/,
  // Custom elements: the one of islands, and those that a theme defines once, as the tabs of Starlight.
  /\bcustomElements\.define\(/,
  // Server islands.
  /\bfunction replaceServerIsland\(/,
  // The events of Solid's islands before they hydrate.
  /\b_\$HY\b/,
  // The toolbar of `astro dev`, on a page without a `<head>`.
  /\b__astro_dev_toolbar__\b/,
];

const mayBeKept = /<(?:script|style|link)[\t\n\f\r />]/i;

/** An element among the children. */
interface ChildElement {
  tag: Tag;
  /** Whether the element is in SVG, a `<template>` or the like, where Astro writes nothing for the page. */
  isApart: boolean;
}

/**
 * Finds what stays of an embed's children when content replaces them. Astro writes the styles and scripts of a
 * component, and the scripts of islands, once for a page: where they are first needed, which may be among these
 * children. Without them, a component or an island elsewhere on the page would be dead.
 *
 * Astro does not mark them. Styles and modules are kept even if an author wrote them, as they look the same. Any
 * other script goes with the children that it belongs to, unless its text is one that Astro writes. On a page without
 * a `<head>`, Astro writes what belongs there, also scripts of integrations, before the first element: all scripts are
 * kept there.
 */
export function findKept(text: string, children: Range): Range[] {
  const markup = text.slice(children.start, children.end);
  if (!mayBeKept.test(markup)) return [];

  const kept: Range[] = [];
  const keep = ({ start, end }: Range) =>
    kept.push({ start: children.start + start, end: children.start + end });
  const hasHead = pageBegin.test(text.slice(0, searchedLength));
  walk<ChildElement | undefined>(markup, undefined, {
    open(tag, parent) {
      const { name } = tag;
      const isApart = parent?.isApart ?? false;
      if (name === 'link' && !isApart && isStylesheet(markup, tag)) keep(tag);
      return { tag, isApart: isApart || elementsApart.has(name) };
    },
    close(name, endTag, element) {
      if (!element || element.isApart) return;
      const { tag } = element;
      const isKept =
        name === 'style' ||
        (name === 'script' && (!hasHead || isOfPage(markup, tag, markup.slice(tag.end, endTag.start))));
      if (isKept) keep({ start: tag.start, end: endTag.end });
    },
  });
  return kept;
}

const pageBegin = /<(?:html|head|body)[\t\n\f\r />]/i;
/** How much of a page is searched for its first tags, which only comments precede. */
const searchedLength = 4096;

const elementsApart = new Set(['svg', 'math', 'template', 'noscript']);

const isStylesheet = (markup: string, tag: Tag) =>
  attributesOf(markup, tag).some(({ name, value }) => name === 'rel' && /\bstylesheet\b/i.test(value));

/** Whether a script is one that Astro writes once for a page: a module without further attributes, or of its own text. */
function isOfPage(markup: string, tag: Tag, script: string) {
  const attributes = attributesOf(markup, tag);
  if (attributes.length === 0) return pageScripts.some((pattern) => pattern.test(script));
  const isModule = attributes.some(({ name, value }) => name === 'type' && value === 'module');
  return isModule && attributes.every(({ name }) => name === 'type' || name === 'src');
}
