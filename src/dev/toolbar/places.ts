/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { markers } from './messages.ts';

/** Finds the places of a snippet in the page by the comments around its content. */
export function placesOf(key: string): Range[] {
  const places: Range[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_COMMENT);
  let start: Node | undefined;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.nodeValue === markers.start(key)) start = node;
    if (node.nodeValue !== markers.end(key) || start === undefined) continue;
    const range = document.createRange();
    range.setStartAfter(start);
    range.setEndBefore(node);
    places.push(range);
    start = undefined;
  }
  return places;
}

/** Outlines each place. Returns a function that removes the outlines. */
export function outline(places: readonly Range[], canvas: ShadowRoot): () => void {
  const frames = places.map((place) => {
    const { top, left, width, height } = place.getBoundingClientRect();
    const frame = document.createElement('astro-dev-toolbar-highlight');
    Object.assign(frame.style, {
      top: `${top + scrollY - 8}px`,
      left: `${left + scrollX - 8}px`,
      width: `${width + 16}px`,
      height: `${height + 16}px`,
    });
    canvas.append(frame);
    return frame;
  });
  return () => {
    for (const frame of frames) frame.remove();
  };
}

/** Scrolls to the first place. */
export function showPlace([place]: readonly Range[]): void {
  const node = place?.startContainer;
  const element = node instanceof Element ? node : node?.parentElement;
  element?.scrollIntoView({ behavior: 'smooth', block: 'center' });
}
