/** The messages between the dev server and the script of its pages. */
export const pageEvents = {
  /** From a page that has loaded. Data: {@link OpenMessage}. */
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
 * The script that reloads a page of the dev server when its snippets have changed. Vite's own message reloads every open
 * page, unless their URLs end in `.html`.
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
