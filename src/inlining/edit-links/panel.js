// The panel lists the snippets of a page, with links to edit them, and outlines the snippet whose entry has
// the focus. Built pages with `editLinks` show it behind a button, `astro dev` shows it in Astro's toolbar.
// A built page gets only one more element, behind <body>. This file is ASCII, since it becomes part of pages
// in any encoding.

const styles = `
  * { box-sizing: border-box }
  .outlines, aside { z-index: 2147483647; pointer-events: none }
  .outlines { position: fixed; inset: 0; overflow: hidden }
  .outline { position: absolute; outline: 3px solid #c2410c; outline-offset: 3px }
  aside {
    position: fixed; right: 16px; bottom: 16px; display: flex; flex-direction: column-reverse; align-items: flex-end;
    gap: 8px; max-width: calc(100vw - 32px); font: 15px/1.5 system-ui, sans-serif; color: #fff; color-scheme: dark;
  }
  button, .panel { pointer-events: auto; border: 1px solid #8b93a1; border-radius: 8px; background: #17191e }
  button { padding: 8px 14px; font: inherit; font-weight: 600; color: inherit; cursor: pointer }
  .panel { width: 340px; max-width: 100%; max-height: 45vh; padding: 12px 16px; overflow-y: auto }
  .panel button { margin: 4px 0; padding: 4px 10px }
  h2 { margin: 0; font-size: 17px; line-height: 1.4 }
  p { margin: 0; overflow-wrap: anywhere; color: #d5d9e0 }
  .error { color: #ff9d9d }
  .panel button.source { margin: 0; padding: 0; border: 0; font-weight: 400; color: #c4b5fd; text-align: left; text-decoration: underline; overflow-wrap: anywhere }
  ul { list-style: none; margin: 8px 0 0; padding: 0 }
  li { padding: 8px 0; border-top: 1px solid #4a505c; overflow-wrap: anywhere }
  li a { color: #c4b5fd }
  :focus-visible { outline: 3px solid #fbbf24; outline-offset: 2px }
  @media print { aside, .outlines { display: none } }
`;

/** Makes an element. Names, params and errors come from outside, so text is only set as text. */
export const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

/** Finds the data of this page. Call it anew each time: client-side navigation replaces the element. */
export const dataElement = () => document.querySelector('script#snippet-edit-links');

export function readSnippets() {
  // A snippet may contain an element that looks like the data. No link may run code because of it.
  const isSafe = ({ url = '' }) => new URL(url, location.href).protocol !== 'javascript:';
  return JSON.parse(dataElement()?.textContent ?? '[]').filter(isSafe);
}

/** Finds the visible contents of snippets, which stand between comments, also in shadow roots. */
function findPlaces(within, found = []) {
  const open = [];
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_COMMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.shadowRoot) findPlaces(node.shadowRoot, found);
    const [, end, id] = (node.nodeType === Node.COMMENT_NODE && /^(\/?)snippet (\d+)$/.exec(node.data)) || [];
    if (end === '') open.push({ id, node });
    if (end !== '/' || open.at(-1)?.id !== id) continue;
    const range = document.createRange();
    range.setStartAfter(open.pop().node);
    range.setEndBefore(node);
    const { width, height } = range.getBoundingClientRect();
    if (width > 0 && height > 0) found.push({ id: Number(id), range });
  }
  return found;
}

/**
 * Adds the panel to a shadow root.
 *
 * @param controls further elements above the list.
 * @param options `advise` says what to do, given the snippets; `open` shows a place in the sources.
 * @returns the elements, and `turn`, which opens or closes the panel.
 */
export function addPanel(root, controls = [], { advise = () => '', open } = {}) {
  // A constructed style sheet is allowed by every Content Security Policy, unlike a <style> element.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  const outlines = make('div', { className: 'outlines', ariaHidden: 'true' });
  const list = make('ul');
  const intro = make('p');
  const heading = make('h2', { textContent: 'Snippets on this page' });
  const panel = make(
    'div',
    { className: 'panel', id: 'panel', hidden: true },
    heading,
    intro,
    ...controls,
    list,
  );
  // The panel is in English, whatever the language of the page is.
  const aside = make('aside', { ariaLabel: 'Snippets on this page', lang: 'en', dir: 'ltr' }, panel);
  root.append(outlines, aside);

  function outline(ranges) {
    const boxes = ranges.map(() => make('div', { className: 'outline' }));
    outlines.replaceChildren(...boxes);
    // Anything on the page may move the contents at any time, so the boxes are placed anew in each frame.
    const draw = () => {
      if (!boxes[0]?.isConnected) return;
      for (const [index, box] of boxes.entries()) {
        const { left, top, width, height } = ranges[index].getBoundingClientRect();
        box.style.cssText = `left: ${left}px; top: ${top}px; width: ${width}px; height: ${height}px`;
      }
      requestAnimationFrame(draw);
    };
    draw();
  }

  function sourceLine({ place, position }) {
    const button = make('button', { type: 'button', className: 'source', textContent: place });
    button.title = 'Open in your editor';
    button.addEventListener('click', () => open(position));
    return make('p', {}, 'Written in ', button);
  }

  function entry({ id, name, url, unmarked, uses = [], sources = [] }, places) {
    const ranges = places.flatMap((place) => (place.id === id ? place.range : []));
    const where = unmarked.length > 0 ? [`in ${unmarked.join(', ')}`] : [];
    const { length } = ranges;
    if (length > 0) where.unshift(`in ${length} place${length === 1 ? '' : 's'} on this page`);
    const title = `snippet ${id}${name ? ` (${name})` : ''}`;
    const link = url
      ? make('a', { href: url, target: '_blank', rel: 'noopener', textContent: `Edit ${title}` })
      : make('strong', { textContent: `S${title.slice(1)}` });
    const textContent = where.join(', and ') || 'not visible on this page';
    const item = make('li', {}, link, make('p', { textContent }), ...sources.map(sourceLine));
    for (const { facts, error, hint, attributes } of uses) {
      const embed = `<snippet-embed id="${id}"${attributes}></snippet-embed>`;
      const onclick = () => navigator.clipboard.writeText(embed);
      item.append(make('p', { textContent: facts }));
      if (error) item.append(make('p', { className: 'error', textContent: error }));
      if (hint) item.append(make('p', { textContent: `What to do: ${hint}` }));
      item.append(make('button', { type: 'button', textContent: 'Copy embed', onclick }));
    }
    item.addEventListener('focusin', () => {
      const { startContainer, startOffset } = ranges[0] ?? {};
      const node = startContainer?.childNodes[startOffset];
      const element = node instanceof Element ? node : startContainer;
      element?.scrollIntoView?.({ block: 'nearest' });
      outline(ranges);
    });
    item.addEventListener('focusout', () => outline([]));
    return item;
  }

  function turn(isOpen) {
    outline([]);
    panel.hidden = !isOpen;
    if (!isOpen) return;
    const snippets = readSnippets();
    const places = findPlaces(document);
    const links = snippets.some(({ url }) => url) ? 'Links open in a new tab.' : '';
    const state = snippets.length > 0 ? links : 'There are none.';
    intro.textContent = [state, advise(snippets)].filter(Boolean).join(' ');
    list.replaceChildren(...snippets.map((snippet) => entry(snippet, places)));
  }

  return { aside, panel, turn };
}

/** Adds the panel to a built page, with a button that opens it. */
export function addToPage() {
  const host = make('snippet-edit-links');
  // Styles of the page for all elements must not apply to the panel.
  host.style.setProperty('all', 'initial', 'important');
  const root = host.attachShadow({ mode: 'open' });
  const { aside, panel, turn } = addPanel(root);
  const button = make('button', { type: 'button' });
  button.setAttribute('aria-controls', 'panel');
  aside.prepend(button);

  const toggle = (isOpen) => {
    const hadFocus = panel.contains(root.activeElement);
    turn(isOpen);
    button.ariaExpanded = String(isOpen);
    if (hadFocus) button.focus();
  };
  /** Shows the snippets of the current page. Client-side navigation calls this for each page. */
  const start = () => {
    toggle(false);
    const { length } = readSnippets();
    button.textContent = `Snippets (${length})`;
    if (length > 0) document.documentElement.append(host);
    else host.remove();
    const data = dataElement();
    // On a page without a <head> tag, the data ends the body. Left there, it would take `:last-child` from
    // another element.
    if (data?.parentElement === document.body) document.head.append(data, data.nextElementSibling);
  };
  button.addEventListener('click', () => toggle(panel.hidden));
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !panel.hidden && !event.defaultPrevented) toggle(false);
  });
  document.addEventListener('astro:page-load', start);
  start();
}
