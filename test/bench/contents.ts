/** The content of a snippet, about `size` bytes long. Only the first snippet differs between editions. */
export function contentOf(id: number, { size = 200, edition = 0 } = {}): string {
  const text = `Snippet ${id} has something to say, and says it here. `;
  const isChanged = id === 1 && edition > 0;
  return `<p class="snippet">${text.repeat(Math.ceil(size / text.length))}${isChanged ? `Edition ${edition}.` : ''}</p>`;
}
