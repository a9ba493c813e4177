/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { defineToolbarApp } from 'astro/toolbar';
import { element } from './elements.ts';
import { keepState, takeState } from './kept-state.ts';
import {
  type ContentMessage,
  type DoneMessage,
  events,
  type ListMessage,
  type OtherPagesMessage,
  type ShownSnippet,
  type SnippetMessage,
  type SnippetsMessage,
  type TryMessage,
} from './messages.ts';
import { outline, placesOf } from './places.ts';
import { createRow, type RowActions, type SnippetRow } from './row.ts';
import { style } from './style.ts';

/**
 * The dev toolbar app: the snippets of this page, where they are, where they came from, their errors, and what they would
 * look like with another text or other params.
 */
export default defineToolbarApp({
  init(canvas, app, server) {
    // With view transitions, the toolbar stays while the page changes.
    const page = () => location.pathname;
    const list = element('ul', { className: 'snippets' });
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
    let kept = takeState();
    let tried: ShownSnippet[] = [];
    let removeMarks = () => {};
    const drawMarks = () => {
      removeMarks();
      if (panel.hidden) return;
      const places = tried.flatMap(({ key }) => placesOf(key));
      removeMarks = outline(places, canvas, 'Tried out');
    };

    const requestList = () => server.send<ListMessage>(events.list, { page: page() });
    app.onToggled(({ state }) => {
      panel.hidden = !state;
      drawMarks();
      if (state) requestList();
    });
    for (const event of ['resize', 'load']) addEventListener(event, drawMarks);
    document.addEventListener('astro:page-load', requestList);
    keepState(() => {
      if (panel.hidden) return undefined;
      const entries = [...rows].map(([key, row]) => [key, row.state()] as const);
      const control = (canvas.activeElement as HTMLElement | null)?.dataset['control'];
      const key = [...rows].find(([, { item }]) => item.contains(canvas.activeElement))?.[0];
      return {
        scrollTop: panel.scrollTop,
        rows: Object.fromEntries(entries),
        focus: key === undefined || control === undefined ? undefined : { key, control },
      };
    });

    server.on<SnippetsMessage>(events.snippets, (message) => {
      if (message.page !== page()) return;
      showSnippets(message.snippets);
    });
    const listen = <Message extends SnippetMessage>(
      event: string,
      show: (row: SnippetRow, message: Message) => void,
    ) => {
      server.on<Message>(event, (message) => {
        const row = message.page === page() ? rows.get(message.key) : undefined;
        if (row !== undefined) show(row, message);
      });
    };
    listen<DoneMessage>(events.done, (row, message) => row.done(message));
    listen<ContentMessage>(events.content, (row, { content }) => row.offer(content ?? ''));
    listen<OtherPagesMessage>(events.otherPages, (row, message) => row.showOtherPages(message));
    requestList();
    if (kept !== undefined) app.toggleState({ state: true });

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
      if (kept !== undefined && snippets.length > 0) restore(kept);
      tried = snippets.filter(({ trial }) => trial !== undefined);
      drawMarks();
      app.toggleNotification(notificationFor(snippets));
    }

    function restore({ rows: states, scrollTop, focus }: NonNullable<typeof kept>): void {
      kept = undefined;
      for (const [key, state] of Object.entries(states)) rows.get(key)?.restore(state);
      if (focus !== undefined) rows.get(focus.key)?.focus(focus.control);
      panel.scrollTop = scrollTop;
    }

    function rowOf(key: string): SnippetRow {
      const send = (event: string) => server.send<SnippetMessage>(event, { page: page(), key });
      const actions: RowActions = {
        refresh: () => send(events.refresh),
        try: (kind, typed) => server.send<TryMessage>(events.try, { page: page(), key, kind, typed }),
        endTrial: () => send(events.endTrial),
        askContent: () => send(events.content),
        askOtherPages: () => send(events.otherPages),
      };
      const row = createRow(actions);
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

function notificationFor(snippets: readonly ShownSnippet[]) {
  if (snippets.some(({ error }) => error !== undefined)) return { state: true, level: 'error' } as const;
  if (snippets.some(({ trial }) => trial !== undefined)) return { state: true, level: 'warning' } as const;
  return { state: false } as const;
}
