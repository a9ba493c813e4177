/** The script of each page of `astro dev`. @param hot JavaScript for its connection to Vite */
export function pageScript(hot: string) {
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
