/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { element } from './elements.ts';
import { markOf } from './messages.ts';

/** Finds the places of a snippet in the page by the comments around its content. */
export function placesOf(key: string): Range[] {
  const places: Range[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_COMMENT);
  const mark = `snippet ${markOf({ key })}`;
  let start: Node | undefined;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.nodeValue === mark) start = node;
    if (node.nodeValue !== `/${mark}` || start === undefined) continue;
    const range = document.createRange();
    range.setStartAfter(start);
    range.setEndBefore(node);
    places.push(range);
    start = undefined;
  }
  return places;
}

/**
 * Outlines each place.
 *
 * @returns a function that removes the outlines.
 */
export function outline(places: readonly Range[], canvas: ShadowRoot): () => void {
  const drawn = places.map((place) => {
    const { top, left, width, height } = place.getBoundingClientRect();
    const frame = element('astro-dev-toolbar-highlight');
    Object.assign(frame.style, {
      top: `${top + scrollY - 8}px`,
      left: `${Math.max(0, left + scrollX - 8)}px`,
      width: `${width + 16}px`,
      height: `${height + 16}px`,
    });
    return frame;
  });
  canvas.append(...drawn);
  return () => {
    for (const one of drawn) one.remove();
  };
}

/** Scrolls to the first place. */
export function showPlace([place]: readonly Range[]): void {
  const node = place?.startContainer;
  const found = node instanceof Element ? node : node?.parentElement;
  found?.scrollIntoView({ behavior: 'smooth', block: 'center' });
}
