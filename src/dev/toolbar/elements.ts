/// <reference lib="dom" />

/** Names, params and errors come from outside, so they are only ever set as text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { className = '', text }: { className?: string; text?: string } = {},
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

export function button(label: string, onClick: () => void): HTMLElement {
  const made = element('astro-dev-toolbar-button', { text: label });
  made.setAttribute('button-style', 'gray');
  made.setAttribute('size', 'medium');
  made.addEventListener('click', onClick);
  return made;
}

/** Sets a text, and hides what has none. */
export function setText(target: HTMLElement, text = ''): void {
  if (target.textContent !== text) target.textContent = text;
  target.hidden = text === '';
}

/** What is hidden until it is opened. */
export function disclosure(label: string, children: readonly Node[]): HTMLDetailsElement {
  return element('details', {}, [element('summary', { text: label }), ...children]);
}

/** A field with its label, whose keys are not those of shortcuts that the page has. */
export function field(
  label: string,
  onSubmit: () => void,
): { whole: HTMLElement; input: HTMLTextAreaElement } {
  const input = element('textarea');
  input.spellcheck = false;
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit();
  });
  for (const name of ['keydown', 'keypress', 'keyup'] as const) {
    input.addEventListener(name, (event) => {
      // This one closes the toolbar.
      if (event.key !== 'Escape') event.stopPropagation();
    });
  }
  return { whole: element('label', { text: label }, [input]), input };
}
