/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { defineToolbarApp } from 'astro/toolbar';
import {
  events,
  type ListMessage,
  type RefreshMessage,
  type ShownSnippet,
  type SnippetsMessage,
} from './messages.ts';
import { outline, placesOf, showPlace } from './places.ts';

const style = `
  h1 { font-size: 22px; margin: 0 0 16px; color: #fff; }
  ul { list-style: none; margin: 0; padding: 0; overflow-y: auto; }
  li { padding: 12px 0; border-top: 1px solid #343841; }
  h2 { font-size: 16px; margin: 0 0 4px; color: #fff; }
  p { margin: 0 0 8px; font-size: 14px; line-height: 1.5; overflow-wrap: anywhere; }
  .buttons { display: flex; flex-wrap: wrap; gap: 8px; }
  .error { color: #ff9d9d; }
`;

/** The dev toolbar app: the snippets of this page, where they are, where they came from, and their errors. */
export default defineToolbarApp({
  init(canvas, app, server) {
    const page = location.pathname;
    const panel = document.createElement('astro-dev-toolbar-window');
    const list = document.createElement('ul');
    const sheet = document.createElement('style');
    sheet.textContent = style;
    panel.append(sheet, heading(), list);
    panel.hidden = true;
    canvas.append(panel);

    const requestList = () => server.send<ListMessage>(events.list, { page });
    app.onToggled(({ state }) => {
      panel.hidden = !state;
      if (state) requestList();
    });
    server.on<SnippetsMessage>(events.snippets, (message) => {
      if (message.page !== page) return;
      list.replaceChildren(...message.snippets.map(row));
      if (message.snippets.length === 0) list.append(text('p', 'There are no snippets on this page.'));
      app.toggleNotification(
        message.snippets.some(({ error }) => error !== undefined)
          ? { state: true, level: 'error' }
          : { state: false },
      );
    });
    requestList();

    function row(snippet: ShownSnippet): HTMLElement {
      const { key, id, name, params, error, editUrl } = snippet;
      const item = document.createElement('li');
      const buttons = document.createElement('div');
      buttons.className = 'buttons';
      buttons.append(
        button('Show', () => showPlace(placesOf(key))),
        button('Refresh', () => server.send<RefreshMessage>(events.refresh, { page, key })),
        button('Copy embed', () => navigator.clipboard.writeText(embedOf(snippet))),
      );
      if (editUrl !== undefined) buttons.append(button('Edit', () => open(editUrl, '_blank', 'noopener')));
      item.append(text('h2', `Snippet ${id}${name === undefined ? '' : ` · ${name}`}`));
      if (params !== undefined) item.append(text('p', params));
      item.append(text('p', facts(snippet)));
      if (error !== undefined) item.append(text('p', error, 'error'));
      item.append(buttons);
      let removeOutline = () => {};
      const draw = () => {
        removeOutline();
        removeOutline = outline(placesOf(key), canvas);
      };
      for (const event of ['mouseenter', 'focusin']) item.addEventListener(event, draw);
      for (const event of ['mouseleave', 'focusout']) item.addEventListener(event, () => removeOutline());
      return item;
    }
  },
});

function heading(): HTMLElement {
  const header = document.createElement('header');
  header.append(text('h1', 'Snippets on this page'));
  return header;
}

function facts({ variant, milliseconds, bytes, checkedAt }: ShownSnippet): string {
  return [
    variant,
    milliseconds === undefined ? undefined : `${Math.round(milliseconds)} ms`,
    bytes === undefined ? undefined : `${bytes} bytes`,
    checkedAt === undefined ? undefined : `${Math.max(0, Math.round((Date.now() - checkedAt) / 1000))} s old`,
  ]
    .filter((fact) => fact !== undefined)
    .join(' · ');
}

function embedOf({ id, params, optional }: ShownSnippet): string {
  const escaped = params?.replaceAll('&', '&amp;').replaceAll("'", '&#39;');
  const withParams = escaped === undefined ? '' : ` params='${escaped}'`;
  return `<snippet-embed id="${id}"${withParams}${optional ? ' optional' : ''}></snippet-embed>`;
}

function button(label: string, onClick: () => void): HTMLElement {
  const made = document.createElement('astro-dev-toolbar-button');
  made.textContent = label;
  made.addEventListener('click', onClick);
  return made;
}

/** Names, params and errors come from outside, so they are only ever set as text. */
function text(element: string, content: string, className = ''): HTMLElement {
  const made = document.createElement(element);
  made.textContent = content;
  made.className = className;
  return made;
}
