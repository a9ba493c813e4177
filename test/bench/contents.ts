/** The content of a snippet, of about a size in bytes; another one in another edition, for the first snippet alone. */
export function contentOf(id: number, { size = 200, edition = 0 } = {}): string {
  const text = `Snippet ${id} has something to say, and says it here. `;
  const isChanged = id === 1 && edition > 0;
  return `<p class="snippet">${text.repeat(Math.ceil(size / text.length))}${isChanged ? `Edition ${edition}.` : ''}</p>`;
}
