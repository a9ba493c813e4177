/** The content of a snippet; another one in another edition, for the first snippet alone. */
export function contentOf(id: number, edition = 0): string {
  const text = `Snippet ${id} has something to say, and says it here. `.repeat(4);
  return `<p class="snippet">${text}${id === 1 && edition > 0 ? `Edition ${edition}.` : ''}</p>`;
}
