/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { defineToolbarApp } from 'astro/toolbar';
import { element } from './elements.ts';
import {
  type DoneMessage,
  events,
  type ListMessage,
  type ShownSnippet,
  type SnippetMessage,
  type SnippetsMessage,
} from './messages.ts';
import { outline, placesOf } from './places.ts';
import { createRow, type SnippetRow } from './row.ts';
import { style } from './style.ts';

/** The dev toolbar app: the snippets of this page, where they are, where they came from, and their errors. */
export default defineToolbarApp({
  init(canvas, app, server) {
    // With view transitions, the toolbar stays while the page changes.
    const page = () => location.pathname;
    const list = element('ul');
    const none = element('p', { text: 'There are no snippets on this page.' });
    const panel = element('astro-dev-toolbar-window', {}, [
      element('header', {}, [element('h1', { text: 'Snippets on this page' })]),
      list,
      none,
    ]);
    panel.setAttribute('role', 'dialog');
    panel.setAttribute('aria-label', 'Snippets on this page');
    panel.hidden = true;
    none.hidden = true;
    canvas.append(element('style', { text: style }), panel);

    const rows = new Map<string, SnippetRow>();
    const requestList = () => server.send<ListMessage>(events.list, { page: page() });
    app.onToggled(({ state }) => {
      panel.hidden = !state;
      if (state) requestList();
    });
    document.addEventListener('astro:page-load', requestList);
    server.on<SnippetsMessage>(events.snippets, (message) => {
      if (message.page === page()) showSnippets(message.snippets);
    });
    server.on<DoneMessage>(events.done, (message) => {
      if (message.page === page()) rows.get(message.key)?.done(message);
    });
    requestList();

    function showSnippets(snippets: readonly ShownSnippet[]): void {
      const keys = snippets.map(({ key }) => key);
      const isSame = keys.length === rows.size && [...rows.keys()].every((key, index) => key === keys[index]);
      if (!isSame) {
        rows.clear();
        for (const key of keys) rows.set(key, rowOf(key));
        list.replaceChildren(...[...rows.values()].map(({ item }) => item));
      }
      none.hidden = snippets.length > 0;
      for (const snippet of snippets) rows.get(snippet.key)?.update(snippet);
      const hasErrors = snippets.some(({ error }) => error !== undefined);
      app.toggleNotification(hasErrors ? { state: true, level: 'error' } : { state: false });
    }

    function rowOf(key: string): SnippetRow {
      const row = createRow(() => server.send<SnippetMessage>(events.refresh, { page: page(), key }));
      let removeOutline = () => {};
      const draw = () => {
        removeOutline();
        removeOutline = outline(placesOf(key), canvas);
      };
      for (const event of ['mouseenter', 'focusin']) row.item.addEventListener(event, draw);
      for (const event of ['mouseleave', 'focusout']) {
        row.item.addEventListener(event, () => removeOutline());
      }
      return row;
    }
  },
});
