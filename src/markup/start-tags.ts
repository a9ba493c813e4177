import { blockElements } from './elements.ts';
import type { Tag } from './tags.ts';
import { walk } from './walk.ts';

/** A start tag, with the element around it. */
export interface StartTag extends Tag {
  /** The name of the element around the tag; empty at the top. */
  parent: string;
}

/** Lists the start tags of HTML, in document order. */
export function startTags(html: string): StartTag[] {
  const tags: StartTag[] = [];
  walk(html, '', {
    open(tag, parent) {
      tags.push(Object.assign(tag, { parent }));
      return tag.name;
    },
  });
  return tags;
}

/** Whether HTML contains an element that closes an open paragraph in a browser. */
export const isBlockLevel = (html: string): boolean =>
  startTags(html).some(({ name }) => blockElements.has(name));
