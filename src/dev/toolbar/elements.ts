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
