// What a built page gets with `editLinks`: a button that opens a list of its snippets, with links to where each is edited,
// and outlines around the snippet whose link has the focus. It changes nothing of the page but for one element behind
// <body>.

const styles = `
  * { box-sizing: border-box }
  [hidden] { display: none !important }
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
const list = make('ul');
const panel = make(
  'div',
  { className: 'panel', id: 'panel', hidden: true },
  make('p', { textContent: 'Links open in a new tab.' }),
  list,
);
button.setAttribute('aria-controls', 'panel');
const aside = make('aside', { ariaLabel: 'Snippets on this page' }, button, panel);
root.append(outlines, aside);

let snippets = [];
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
      found.push({ id, range });
    }
  }
  return found;
}

function isVisible({ range }) {
  const { width, height } = range.getBoundingClientRect();
  return width > 0 && height > 0;
}

/** Outlines these places, and no others. */
function outline(places) {
  cancelAnimationFrame(frame);
  const drawn = places.map(() => make('div', { className: 'outline' }));
  outlines.replaceChildren(...drawn);
  const draw = () => {
    for (const [index, { range }] of places.entries()) {
      const { left, top, width, height } = range.getBoundingClientRect();
      for (const [name, value] of Object.entries({ left, top, width, height })) {
        drawn[index].style.setProperty(name, `${value}px`);
      }
    }
    // What they are around may move for any reason.
    if (places.length > 0) frame = requestAnimationFrame(draw);
  };
  draw();
}

function scrollIntoView({ range: { startContainer, startOffset } }) {
  const node = startContainer.childNodes[startOffset];
  const element =
    [node, startContainer].find((one) => one instanceof Element) ?? startContainer.parentElement;
  element?.scrollIntoView({ block: 'nearest' });
}

function row({ id, url, unmarked }, places) {
  const visible = places.filter((place) => place.id === id && isVisible(place));
  const where = [
    ...(visible.length > 0 ? [`in ${plural(visible.length, 'place')} on this page`] : []),
    ...(unmarked.length > 0 ? [`in ${unmarked.join(', ')}`] : []),
    ...(visible.length === 0 && unmarked.length === 0 ? ['not visible on this page'] : []),
  ];
  const link = make('a', { href: url, target: '_blank', rel: 'noopener', textContent: `Edit snippet ${id}` });
  link.addEventListener('focus', () => {
    if (visible.length > 0) scrollIntoView(visible[0]);
    outline(visible);
  });
  link.addEventListener('blur', () => outline([]));
  return make('li', {}, link, make('p', { textContent: where.join(', and ') }));
}

function open() {
  const places = findPlaces(document);
  list.replaceChildren(...snippets.map((snippet) => row(snippet, places)));
  panel.hidden = false;
  button.ariaExpanded = 'true';
}

function close() {
  const hadFocus = panel.contains(root.activeElement);
  panel.hidden = true;
  button.ariaExpanded = 'false';
  if (hadFocus) button.focus();
  outline([]);
}

const isWebUrl = (url) => /^https?:$/.test(new URL(url, location.href).protocol);

/** Reads what the page says of its snippets: again on each page of a site that navigates by script. */
function start() {
  close();
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
document.addEventListener('astro:page-load', start);
start();
