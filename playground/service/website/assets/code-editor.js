// Puts a code editor in the place of the text area, which stays the field of the form. Marks the lines of findings, and
// inserts what the buttons above it say.
import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands';
import { html } from '@codemirror/lang-html';
import { liquid } from '@codemirror/lang-liquid';
import { syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorSelection } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';

const text = document.querySelector('#draft');
const label = document.querySelector('label[for=draft]');
const tools = document.querySelector('[data-tools]');
const severities = { refused: 'error', breaks: 'error', note: 'warning' };

/** What the buttons do. */
const actions = {
  bold: () => wrap('<strong>', '</strong>', 'bold'),
  list: () => wrap('<ul>\n  <li>', '</li>\n</ul>', 'one', (lines) => lines.replaceAll('\n', '</li>\n  <li>')),
  link: () => ask('link', ({ address, text }) => `<a href="${address}">${text}</a>`),
  image: () => ask('image', ({ address, text }) => `<img src="${address}" alt="${quoted(text)}">`),
};

const view = new EditorView({
  doc: text.value,
  extensions: [
    lineNumbers(),
    lintGutter(),
    history(),
    EditorView.lineWrapping,
    // A tag that is typed whole would be closed twice.
    liquid({ base: html({ autoCloseTags: false }) }),
    syntaxHighlighting(classHighlighter),
    EditorView.theme({}, { dark: matchMedia('(prefers-color-scheme: dark)').matches }),
    EditorView.contentAttributes.of({ 'aria-labelledby': 'draft-label', 'aria-describedby': 'draft-hint' }),
    keymap.of([
      { key: 'Mod-b', run: () => actions.bold() ?? true },
      { key: 'Mod-k', run: () => actions.link() ?? true },
    ]),
    keymap.of([...lintKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (!docChanged) return;
      text.value = state.doc.toString();
      text.dispatchEvent(new Event('input', { bubbles: true }));
    }),
  ],
});

/** Undo takes back each insertion alone. */
const annotations = isolateHistory.of('full');

const quoted = (value) => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Puts text around each selection, or around a word that stands for it, which is then selected. */
function wrap(before, after, word, change = (selected) => selected) {
  const { state } = view;
  const edits = state.changeByRange(({ from, to }) => {
    const selected = change(state.sliceDoc(from, to) || word);
    const start = from + before.length;
    return {
      changes: { from, to, insert: before + selected + after },
      range: EditorSelection.range(start, start + selected.length),
    };
  });
  view.dispatch(state.update(edits, { annotations, scrollIntoView: true }));
  view.focus();
}

function insert(written) {
  view.dispatch(view.state.replaceSelection(written), { annotations, scrollIntoView: true });
  view.focus();
}

/** Opens a dialog, and inserts what it was filled with. */
function ask(name, markupOf) {
  const dialog = document.querySelector(`[data-dialog=${name}]`);
  const form = dialog.querySelector('form');
  const { from, to } = view.state.selection.main;
  form.reset();
  form.elements.namedItem('text').value = view.state.sliceDoc(from, to);
  dialog.returnValue = '';
  dialog.addEventListener(
    'close',
    () => {
      const filled = Object.fromEntries(new FormData(form));
      if (dialog.returnValue !== 'insert') view.focus();
      else insert(markupOf({ ...filled, address: quoted(filled.address) }));
    },
    { once: true },
  );
  dialog.showModal();
}

/** Marks lines. A finding without a line is only in the list below. */
function mark(findings) {
  const { doc } = view.state;
  const diagnostics = findings.flatMap(({ line, flaw, severity }) => {
    if (!(line <= doc.lines)) return [];
    const { from, to } = doc.line(line);
    return { from, to, severity: severities[severity], message: `Line ${line} ${flaw}` };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

for (const button of tools.querySelectorAll('button')) {
  const { tool, insert: written } = button.dataset;
  button.addEventListener('click', () => (tool ? actions[tool]() : insert(written)));
}
tools.hidden = false;
label.id = 'draft-label';
label.removeAttribute('for');
label.addEventListener('click', () => view.focus());
text.after(view.dom);
if (document.activeElement === text) {
  view.focus();
  view.dispatch({ selection: { anchor: text.selectionStart } });
}
text.hidden = true;
mark(JSON.parse(text.dataset.findings));
text.addEventListener('findings', ({ detail }) => mark(detail));
