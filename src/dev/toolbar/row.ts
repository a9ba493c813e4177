/// <reference lib="dom" />
import { button, element, setText } from './elements.ts';
import type { DoneMessage, ShownSnippet } from './messages.ts';
import { placesOf, showPlace } from './places.ts';

/** One snippet in the list. It stays while its data changes, so that a control keeps the focus. */
export interface SnippetRow {
  item: HTMLElement;
  update(snippet: ShownSnippet): void;
  /** A refresh has ended. */
  done(message: DoneMessage): void;
}

export function createRow(refresh: () => void): SnippetRow {
  let shown: ShownSnippet | undefined;
  const title = element('h2');
  const params = element('p', { className: 'params' });
  const factsLine = element('p');
  const error = element('p', { className: 'error' });
  // What is written into it is read out, so it is never hidden.
  const status = element('p');
  status.setAttribute('role', 'status');
  const edit = button('Edit', () => open(shown?.editUrl, '_blank', 'noopener'));
  const buttons = element('div', { className: 'buttons' }, [
    button('Show', () => shown && showPlace(placesOf(shown.key))),
    button('Refresh', refresh),
    button('Copy embed', () => shown && navigator.clipboard.writeText(embedOf(shown))),
    edit,
  ]);
  const parts = [title, params, factsLine, error, buttons, status];
  const item = element('li', {}, [element('astro-dev-toolbar-card', {}, parts)]);

  return {
    item,
    update(snippet) {
      shown = snippet;
      const { id, name } = snippet;
      setText(title, `Snippet ${id}${name === undefined ? '' : ` · ${name}`}`);
      setText(params, snippet.params);
      setText(factsLine, facts(snippet));
      setText(error, snippet.error);
      edit.hidden = snippet.editUrl === undefined;
    },
    done(message) {
      status.textContent = message.error ?? '';
    },
  };
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
