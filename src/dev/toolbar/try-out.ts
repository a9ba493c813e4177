/// <reference lib="dom" />
import { button, disclosure, element, field } from './elements.ts';
import type { ShownSnippet, ShownTrial } from './messages.ts';

/** Where a developer types another text or other params for a snippet. */
export interface TryOut {
  whole: HTMLDetailsElement;
  update(snippet: ShownSnippet): void;
  /** @param error why what was typed is not shown; `undefined` if it is. */
  done(error: string | undefined): void;
  /** Offers what the service sent, to be changed. */
  offer(content: string): void;
  /** What was typed, by the kind of the field. */
  typed(): Record<string, string>;
  restore(typed: Record<string, string>): void;
}

const hint =
  'It is shown on every page of this dev server that has this snippet with these params, by the same rules as a text of the service. It is saved nowhere, and gone when the dev server restarts.';

const kinds = {
  text: { label: 'Another text or HTML', button: 'Try this text', waiting: 'Trying it …', rows: 4 },
  params: {
    label: 'Other params, as JSON',
    button: 'Try these params',
    waiting: 'Asking the service …',
    rows: 2,
  },
} as const;

export function createTryOut(
  submit: (kind: ShownTrial['kind'], typed: string) => void,
  askContent: () => void,
): TryOut {
  let triesText = false;
  // What is written into it is read out, so it is never hidden.
  const status = element('p');
  status.setAttribute('role', 'status');
  const fields = { text: createField('text'), params: createField('params') };
  const whole = disclosure('Try another text or other params', [
    fields.text.whole,
    fields.params.whole,
    status,
    element('p', { text: hint }),
  ]);
  whole.addEventListener('toggle', () => {
    if (!whole.open) return;
    // An empty field that is opened again is filled again.
    for (const one of Object.values(fields)) one.isTyped &&= one.input.value !== '';
    askContent();
  });

  function createField(kind: ShownTrial['kind']) {
    const { label, button: action, waiting, rows } = kinds[kind];
    const send = () => {
      status.className = '';
      status.textContent = waiting;
      submit(kind, input.value);
    };
    const { whole: labelled, input } = field(label, send);
    input.rows = rows;
    input.dataset['control'] = kind;
    const made = {
      input,
      whole: element('div', {}, [labelled, element('div', { className: 'buttons' }, [button(action, send)])]),
      isTyped: false,
      /** Fills it, unless something was typed into it. */
      fill(value: string) {
        if (!made.isTyped && input.value !== value) input.value = value;
      },
    };
    input.addEventListener('input', () => {
      made.isTyped = true;
    });
    return made;
  }

  return {
    whole,
    update({ params, trial }) {
      const tried = trial?.kind === 'params' ? trial.tried : params;
      fields.params.fill(tried === undefined ? '' : JSON.stringify(JSON.parse(tried), null, 2));
      triesText = trial?.kind === 'text';
      if (triesText) fields.text.fill(trial?.tried ?? '');
      else if (whole.open) askContent();
    },
    done(error) {
      status.className = error === undefined ? '' : 'failed';
      status.textContent = error ?? '';
    },
    offer(content) {
      if (!triesText) fields.text.fill(content);
    },
    typed: () =>
      Object.fromEntries(
        Object.entries(fields)
          .filter(([, { isTyped }]) => isTyped)
          .map(([kind, { input }]) => [kind, input.value]),
      ),
    restore(typed) {
      for (const [kind, one] of Object.entries(fields)) {
        const value = typed[kind];
        if (value === undefined) continue;
        one.input.value = value;
        one.isTyped = true;
      }
    },
  };
}
