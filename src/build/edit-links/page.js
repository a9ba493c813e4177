// What a built page gets with `editLinks`: a button that opens a list of its snippets, outlines around them, and links
// to where each is edited. It changes nothing of the page but for one element behind <body>.

const styles = `
  * { box-sizing: border-box }
  [hidden] { display: none !important }
  .outlines, aside { z-index: 2147483647; pointer-events: none }
  .outlines { position: fixed; inset: 0; overflow: hidden }
  .outline { position: absolute; outline: 2px dashed #6d28d9; outline-offset: 2px }
  .outline.active { outline: 3px solid #c2410c; outline-offset: 3px }
  .outline a {
    position: absolute; right: 0; bottom: 100%; min-width: 24px; padding: 3px 6px; pointer-events: auto;
    font: 600 13px/18px system-ui, sans-serif; text-align: center; text-decoration: none; white-space: nowrap;
    color: #fff; background: #6d28d9;
  }
  .outline.active a { background: #c2410c }
  .outline a.inside { bottom: auto; top: 0 }
  aside {
    position: fixed; right: 16px; bottom: 16px; display: flex; flex-direction: column-reverse; align-items: flex-end;
    gap: 8px; max-width: calc(100vw - 32px); font: 15px/1.5 system-ui, sans-serif; color: #fff; color-scheme: dark;
  }
  button, .panel { pointer-events: auto; border: 1px solid #8b93a1; border-radius: 8px; background: #17191e }
  button { padding: 8px 14px; font: inherit; font-weight: 600; color: inherit; cursor: pointer }
  .panel { width: 340px; max-width: 100%; max-height: 45vh; padding: 12px 16px; overflow-y: auto }
  p { margin: 0; overflow-wrap: anywhere; color: #d5d9e0 }
  ul { list-style: none; margin: 8px 0 0; padding: 0 }
  li { padding: 8px 0; border-top: 1px solid #4a505c }
  li a { color: #c4b5fd }
  :focus-visible { outline: 3px solid #fbbf24; outline-offset: 2px }
  @media print { aside, .outlines { display: none } }
`;

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

const host = document.createElement('snippet-edit-links');
// In any language of the page, and whatever its styles say of any element.
host.lang = 'en';
host.dir = 'ltr';
host.style.setProperty('all', 'initial', 'important');
const root = host.attachShadow({ mode: 'open' });
// A style sheet that is constructed needs no permission of a Content Security Policy.
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
root.adoptedStyleSheets = [sheet];

const outlines = make('div', { className: 'outlines', ariaHidden: 'true' });
const button = make('button', { type: 'button', ariaExpanded: 'false' });
const hint = 'Links open in a new tab. Alt+click on a snippet does the same.';
const list = make('ul');
const panel = make(
  'div',
  { className: 'panel', id: 'panel', hidden: true },
  make('p', { textContent: hint }),
  list,
);
button.setAttribute('aria-controls', 'panel');
const aside = make('aside', { ariaLabel: 'Snippets on this page' }, button, panel);
root.append(outlines, aside);

let snippets = [];
let places = [];
let active;
let isPointed = false;
let frame = 0;

/** The places that are marked: what is between the comments of a snippet. */
function findPlaces(within) {
  const found = [];
  const open = [];
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_COMMENT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.shadowRoot && node !== host) found.push(...findPlaces(node.shadowRoot));
    const mark = node.nodeType === Node.COMMENT_NODE && /^(\/?)snippet (\d+)$/.exec(node.data);
    if (!mark) continue;
    const id = Number(mark[2]);
    if (mark[1] === '') open.push({ id, node });
    else if (open.at(-1)?.id === id) {
      const range = document.createRange();
      range.setStartAfter(open.pop().node);
      range.setEndBefore(node);
      found.push({ id, range, snippet: snippets.find((one) => one.id === id) });
    }
  }
  return found.filter(({ snippet }) => snippet !== undefined);
}

const boxOf = ({ range }) => range.getBoundingClientRect();
const isVisible = (place) => boxOf(place).width > 0 && boxOf(place).height > 0;

/** The smallest place at a point of the page, if what is on top there belongs to it. */
function placeAt(event) {
  const { clientX, clientY } = event;
  const [target] = event.composedPath();
  const covers = ({ left, right, top, bottom }) =>
    left <= clientX && clientX <= right && top <= clientY && clientY <= bottom;
  const size = (place) => boxOf(place).width * boxOf(place).height;
  return places
    .filter(({ range }) => [...range.getClientRects()].some(covers) && range.intersectsNode(target))
    .sort((a, b) => size(a) - size(b))[0];
}

function draw() {
  const shown = panel.hidden ? places.filter((place) => place === active && isPointed) : places;
  for (const place of places) {
    const box = boxOf(place);
    const isShown = shown.includes(place) && box.width > 0 && box.height > 0;
    if (!isShown) {
      place.outline?.remove();
      place.outline = undefined;
      continue;
    }
    if (place.outline === undefined) {
      const { id, url } = place.snippet;
      // The list has the same links for keyboards and screen readers.
      const link = make('a', {
        href: url,
        target: '_blank',
        rel: 'noopener',
        tabIndex: -1,
        textContent: `Edit ${id}`,
      });
      place.outline = make('div', { className: 'outline' }, link);
      outlines.append(place.outline);
    }
    const { left, top, width, height } = box;
    for (const [name, value] of Object.entries({ left, top, width, height })) {
      place.outline.style.setProperty(name, `${value}px`);
    }
    const isActive = place === active || place.snippet === active;
    place.outline.classList.toggle('active', isActive);
    place.outline.firstChild.classList.toggle('inside', top < 24);
  }
  // While outlines are shown, since what they are around may move for any reason.
  frame = shown.length > 0 ? requestAnimationFrame(draw) : 0;
}

function redraw() {
  cancelAnimationFrame(frame);
  draw();
}

function activate(one, pointed = false) {
  active = one;
  isPointed = pointed;
  redraw();
}

function scrollIntoView({ range: { startContainer, startOffset } }) {
  const node = startContainer.childNodes[startOffset];
  const element =
    [node, startContainer].find((one) => one instanceof Element) ?? startContainer.parentElement;
  element?.scrollIntoView({ block: 'nearest' });
}

function row(snippet) {
  const { id, url, unmarked } = snippet;
  const own = places.filter((place) => place.snippet === snippet);
  const visible = own.filter(isVisible);
  const where = [
    ...(visible.length > 0 ? [`in ${plural(visible.length, 'place')} on this page`] : []),
    ...(unmarked.length > 0 ? [`in ${unmarked.join(', ')}`] : []),
    ...(visible.length === 0 && unmarked.length === 0 ? ['not visible on this page'] : []),
  ];
  const link = make('a', { href: url, target: '_blank', rel: 'noopener', textContent: `Edit snippet ${id}` });
  const item = make('li', {}, link, make('p', { textContent: where.join(', and ') }));
  link.addEventListener('focus', () => {
    if (link.matches(':focus-visible') && visible.length > 0) scrollIntoView(visible[0]);
    activate(snippet);
  });
  item.addEventListener('pointerenter', () => activate(snippet));
  for (const event of ['pointerleave', 'focusout']) item.addEventListener(event, () => activate());
  return item;
}

function open() {
  forget();
  places = findPlaces(document);
  list.replaceChildren(...snippets.map(row));
  panel.hidden = false;
  button.ariaExpanded = 'true';
  redraw();
}

function close() {
  const hadFocus = panel.contains(root.activeElement);
  panel.hidden = true;
  button.ariaExpanded = 'false';
  if (hadFocus) button.focus();
  activate();
}

function forget() {
  for (const { outline } of places) outline?.remove();
  places = [];
}

const isWebUrl = (url) => /^https?:$/.test(new URL(url, location.href).protocol);

/** Reads what the page says of its snippets: again on each page of a site that navigates by script. */
function start() {
  close();
  forget();
  // What a snippet contains may look like it, and must not lead to code.
  const data = document.querySelector('script#snippet-edit-links');
  snippets = JSON.parse(data?.textContent ?? '[]').filter(({ url }) => isWebUrl(url));
  button.textContent = `Snippets (${snippets.length})`;
  if (snippets.length > 0) document.documentElement.append(host);
  else host.remove();
  // They are at the end of a page without a <head> tag, where another element would be the `:last-child`.
  if (data?.parentElement === document.body) document.head.append(data, data.nextElementSibling);
}

button.addEventListener('click', () => (panel.hidden ? open() : close()));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !panel.hidden && !event.defaultPrevented) close();
});
document.addEventListener('pointermove', (event) => {
  const isOwn = event.target === host;
  if (isOwn || (panel.hidden && !event.altKey && !isPointed)) return;
  if (panel.hidden && event.altKey && places.length === 0) places = findPlaces(document);
  const place = panel.hidden && !event.altKey ? undefined : placeAt(event);
  if (place !== active) activate(place, place !== undefined);
});
document.addEventListener(
  'click',
  (event) => {
    if (!event.altKey || event.button !== 0) return;
    if (places.length === 0) places = findPlaces(document);
    const isOwn = event.target === host;
    const url = isOwn ? event.composedPath()[0].closest('a')?.href : placeAt(event)?.snippet.url;
    if (url === undefined) return;
    // With Alt, browsers download what a link leads to.
    event.preventDefault();
    event.stopPropagation();
    window.open(url, '_blank', 'noopener');
  },
  true,
);
document.addEventListener('astro:page-load', start);
start();
