/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { button, disclosure, element, setText } from './elements.ts';
import type { RowState } from './kept-state.ts';
import type { DoneMessage, OtherPagesMessage, ShownSnippet, ShownTrial } from './messages.ts';
import { placesOf, showPlace } from './places.ts';
import { createTryOut, type TryOut } from './try-out.ts';

/** What a row asks of the dev server. */
export interface RowActions {
  refresh(): void;
  try(kind: ShownTrial['kind'], typed: string): void;
  endTrial(): void;
  askContent(): void;
  askOtherPages(): void;
}

/** One snippet in the list. It stays while its data changes, so that nothing typed is lost. */
export interface SnippetRow {
  item: HTMLElement;
  update(snippet: ShownSnippet): void;
  done(message: DoneMessage): void;
  offer: TryOut['offer'];
  showOtherPages(message: OtherPagesMessage): void;
  state(): RowState;
  restore(state: RowState): void;
  focus(control: string): void;
}

export function createRow(actions: RowActions): SnippetRow {
  let shown: ShownSnippet | undefined;
  const title = element('h2');
  const badge = element('astro-dev-toolbar-badge', { text: 'Tried out' });
  badge.setAttribute('badge-style', 'yellow');
  const params = element('p', { className: 'params' });
  const factsLine = element('p');
  const error = element('p', { className: 'error' });
  const edit = button('Edit', () => open(shown?.editUrl, '_blank', 'noopener'));
  const buttons = element('div', { className: 'buttons' }, [
    button('Show', () => shown && showPlace(placesOf(shown.key))),
    button('Refresh', actions.refresh),
    button('Copy embed', () => shown && navigator.clipboard.writeText(embedOf(shown))),
    edit,
  ]);
  const trialText = element('p');
  const trialFlaws = element('p', { className: 'warning' });
  const trialBox = element('div', { className: 'trial' }, [
    trialText,
    trialFlaws,
    element('div', { className: 'buttons' }, [button("Back to the service's text", actions.endTrial)]),
  ]);
  const tryOut = createTryOut(actions.try, actions.askContent);
  const pages = element('div', { className: 'pages' });
  const elsewhere = disclosure('On other pages', [pages]);
  elsewhere.addEventListener('toggle', () => {
    if (elsewhere.open) actions.askOtherPages();
  });
  const head = element('div', { className: 'title' }, [title, badge]);
  const parts = [head, params, factsLine, error, trialBox, buttons, tryOut.whole, elsewhere];
  const item = element('li', {}, [element('astro-dev-toolbar-card', {}, parts)]);
  // By its place, since the same control is there when the page has loaded again.
  for (const [index, one] of item.querySelectorAll<HTMLElement>(focusable).entries()) {
    one.dataset['control'] ??= `${index}`;
  }
  const folds = { tryOut: tryOut.whole, elsewhere };

  return {
    item,
    update(snippet) {
      shown = snippet;
      const { id, name, trial } = snippet;
      setText(title, `Snippet ${id}${name === undefined ? '' : ` · ${name}`}`);
      setText(params, snippet.params);
      setText(factsLine, facts(snippet));
      setText(error, snippet.error);
      edit.hidden = snippet.editUrl === undefined;
      badge.hidden = trial === undefined;
      trialBox.hidden = trial === undefined;
      setText(trialText, trial && describeTrial(trial));
      setText(trialFlaws, trial && [trial.error ?? [], trial.warnings].flat().join(' '));
      tryOut.update(snippet);
    },
    done: (message) => tryOut.done(message.error),
    offer: tryOut.offer,
    showOtherPages: (message) => pages.replaceChildren(...describePages(message)),
    state: () => ({
      open: Object.entries(folds).flatMap(([name, fold]) => (fold.open ? [name] : [])),
      typed: tryOut.typed(),
    }),
    restore(state) {
      tryOut.restore(state.typed);
      for (const [name, fold] of Object.entries(folds)) fold.open = state.open.includes(name);
    },
    focus(control) {
      const found = item.querySelector<HTMLElement>(`[data-control="${CSS.escape(control)}"]`);
      (found?.shadowRoot?.querySelector('button') ?? found)?.focus({ preventScroll: true });
    },
  };
}

const focusable = 'astro-dev-toolbar-button, summary, textarea';

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

function describeTrial({ kind, tried }: ShownTrial): string {
  if (kind === 'text') return 'Pages show a text that was typed here, not the text of the service.';
  return tried === undefined
    ? 'Pages show what the service sends without params.'
    : `Pages show what the service sends for the params ${tried}`;
}

/** With the params that are tried out, if there are any. */
function embedOf({ id, params, optional, trial }: ShownSnippet): string {
  const shown = trial?.kind === 'params' ? trial.tried : params;
  const escaped = shown?.replaceAll('&', '&amp;').replaceAll("'", '&#39;');
  const withParams = escaped === undefined ? '' : ` params='${escaped}'`;
  return `<snippet-embed id="${id}"${withParams}${optional ? ' optional' : ''}></snippet-embed>`;
}

function describePages({ flaw, builtAt, pages, more, entries }: OtherPagesMessage): HTMLElement[] {
  if (flaw !== undefined) return [element('p', { text: flaw })];
  const when = builtAt === undefined ? '' : `, ${new Date(builtAt).toLocaleString()}`;
  if (pages.length + entries.length === 0) {
    return [element('p', { text: `In the last build${when}, it was on no other page.` })];
  }
  const links = pages.map(({ path, hasOtherParams }) => {
    const link = element('a', { text: path });
    link.href = path;
    const note = hasOtherParams ? [' with other params'] : [];
    return element('li', {}, [link, ...note.map((text) => document.createTextNode(text))]);
  });
  const others = more === 0 ? [] : [element('li', { text: `and ${more} more` })];
  const named = entries.map((text) => element('li', { text }));
  return [
    element('p', { text: `In the last build${when}, it was also on:` }),
    element('ul', {}, [...links, ...others, ...named]),
  ];
}
