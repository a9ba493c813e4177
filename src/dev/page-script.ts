/**
 * The script of each page of `astro dev`. While the page is visible, the script asks the server every two
 * seconds whether what the page shows has changed, and reloads the page if so. The hash of what it shows is
 * in the element that the panel reads; a page without that element shows no snippets, and does not ask.
 *
 * @param hot JavaScript for the connection to Vite
 */
export function pageScript(hot: string): string {
  return `
const shown = () => document.querySelector('script#snippet-edit-links')?.dataset.hash;
const ask = () => {
  const hash = shown();
  if (hash !== undefined && document.visibilityState === 'visible') ${hot}.send('astro-snippets:ask', { hash });
};
${hot}.on('astro-snippets:answer', ({ hash, hasChanged }) => {
  if (hasChanged && hash === shown()) location.reload();
});
document.addEventListener('visibilitychange', ask);
setInterval(ask, 2000);
ask();
`;
}
