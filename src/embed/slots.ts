import { type Attribute, attributesOf } from '../markup/tags.ts';
import { walk } from '../markup/walk.ts';
import type { SourceSlice } from './source-slice.ts';

/** An open element, whose children a slot of its shadow tree may take. */
interface PossibleHost {
  isShadowHost: boolean;
  /** The offsets of the embeds with `slot` among its children. */
  slotted: number[];
}

/**
 * Decides about `slot` on embeds in a page: the browser needs it among the children of a custom element or of an
 * element with a declarative shadow tree, and content that replaces the embed would not have it. Any other `slot` was
 * for a component of Astro, which has put the embed where it belongs. Pages without `slot` on an embed are not walked.
 */
export function checkSlots({ text, results: { embeds } }: SourceSlice): void {
  const candidates = embeds.filter(({ foreign }) => foreign === 'slot');
  if (candidates.length === 0) return;
  const lost = findSlotted(text, new Set(candidates.map(({ start }) => start)));
  for (const embed of candidates) {
    if (!lost.has(embed.start)) embed.foreign = undefined;
  }
}

/** Finds which of these embeds are children of an element that may have a shadow tree. */
function findSlotted(text: string, starts: ReadonlySet<number>): Set<number> {
  const found = new Set<number>();
  const outermost: PossibleHost = { isShadowHost: false, slotted: [] };
  walk(text, outermost, {
    open({ name, start, end }, parent) {
      if (starts.has(start)) parent.slotted.push(start);
      if (name === 'template' && attributesOf(text, { start, end }).some(isShadowRoot))
        parent.isShadowHost = true;
      return { isShadowHost: isCustomElement(name), slotted: [] };
    },
    close(_name, _endTag, { isShadowHost, slotted }) {
      if (isShadowHost) for (const start of slotted) found.add(start);
    },
  });
  return found;
}

/** Whether a name is that of a custom element. Those of Astro carry the slots of islands, and have no shadow tree. */
const isCustomElement = (name: string) => name.includes('-') && !name.startsWith('astro-');

const isShadowRoot = ({ name }: Attribute) => name === 'shadowrootmode';
