import type { Tag } from '../markup/tags.ts';

/** The elements around a place in markup, as far as they matter for embeds there. */
export interface MarkupContext {
  /** Whether the place is part of an example, which stays as it is. */
  isExample: boolean;
  /** Whether an island renders the place again in the browser. */
  inIsland: boolean;
  /** The language at the place: the value of the nearest `lang`. */
  lang: string | undefined;
  /** Whether only text is shown at the place, although it is among elements: as in SVG. */
  showsText: boolean;
  /** The start tags of the embed, the heading and the link around the place. */
  embed?: Tag;
  heading?: Tag;
  link?: Tag;
  /** The element around the place whose text is read apart: a script or style; in XML, a title or image. */
  holder?: Tag;
}

type ContextChange = (tag: Tag) => Partial<MarkupContext>;

const contextChanges = new Map<string, ContextChange>();
const registerChange = (names: string, change: ContextChange) => {
  for (const name of names.split(' ')) contextChanges.set(name, change);
};

registerChange('code pre kbd samp', () => ({ isExample: true }));
// Astro marks islands, which the browser renders again, and what was passed to them, which hydration keeps.
registerChange('astro-island', () => ({ inIsland: true }));
registerChange('astro-slot astro-static-slot template', () => ({ inIsland: false }));
registerChange('h1 h2 h3 h4 h5 h6', (heading) => ({ heading }));
registerChange('a', (link) => ({ link }));
registerChange('script style', (holder) => ({ holder }));
registerChange('svg math option', () => ({ showsText: true }));
registerChange('foreignobject', () => ({ showsText: false }));

/** Returns what an element of HTML changes for the places inside it. */
export const contextChangeOf = (tag: Tag): Partial<MarkupContext> | undefined =>
  contextChanges.get(tag.name)?.(tag);
