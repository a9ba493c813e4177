/** The messages between the dev server and the script of its pages. */
export const pageEvents = {
  /** From a page: it is loaded. Data: {@link OpenMessage}. */
  open: 'astro-snippets:open',
  /** From the server: these pages would look different now. Data: {@link ChangedMessage}. */
  changed: 'astro-snippets:changed',
} as const;

export interface OpenMessage {
  page: string;
}

export interface ChangedMessage {
  pages: string[];
}

/**
 * The script by which a page of the dev server reloads when its snippets have changed. Vite's own reload would do so
 * with every open page: it can name a page only if its URL ends in `.html`.
 *
 * @param hot JavaScript for the page's connection to Vite.
 */
export function pageScript(hot: string): string {
  return `
${hot}.on('${pageEvents.changed}', ({ pages }) => {
  if (pages.includes(location.pathname)) location.reload();
});
${hot}.send('${pageEvents.open}', { page: location.pathname });
`;
}
