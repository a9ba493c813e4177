import { escapeUTF8 } from 'entities/escape';
import { dataElement } from '../inlining/edit-links/edit-links.ts';

/** An error as Astro's overlay shows it. The overlay expects the message and the hint as HTML. */
export interface OverlayError {
  name: string;
  title: string;
  message: string;
  hint: string;
  /** The message as plain text, which the overlay shows in place of a stack trace. */
  stack: string;
}

/**
 * Writes a page that shows an error in Astro's overlay instead of the page that was asked for.
 *
 * @param hash the hash of what that page would show, so that the error page can ask whether it has changed
 */
export function errorPage(base: string, error: OverlayError, hash: string | undefined): string {
  // A "<" in the error could begin `</script>` and end the script, so it is escaped.
  const json = JSON.stringify(error).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Error</title></head>
<body>${hash ? dataElement([], hash) : ''}<noscript>${error.message}<br>${error.hint}</noscript>
<script type="module">
import { createHotContext, ErrorOverlay } from '${base}@vite/client';
const hot = createHotContext('/@astro-snippets');
${pageScript('hot')}
document.body.append(new ErrorOverlay(${json}));
</script>
</body></html>
`;
}

/**
 * The script of each page of `astro dev`. While the page is visible, the script asks the server every two
 * seconds whether what the page shows has changed, and reloads the page if so. The hash of what it shows is
 * in the element that the panel reads; a page without that element shows no snippets, and does not ask.
 *
 * @param hot the JavaScript expression for the connection to Vite, such as `import.meta.hot`
 */
export function pageScript(hot: string): string {
  return `
const data = () => document.querySelector('script#snippet-edit-links');
const shown = () => data()?.dataset.hash;
/** Adds names that were not known when the page was made. */
const addNames = (names) => {
  const snippets = JSON.parse(data().textContent);
  if (snippets.every(({ id, name }) => name === names[id])) return;
  data().textContent = JSON.stringify(snippets.map((snippet) => ({ ...snippet, name: names[snippet.id] ?? snippet.name })));
};
const ask = () => {
  const hash = shown();
  if (hash !== undefined && document.visibilityState === 'visible') ${hot}.send('astro-snippets:ask', { hash });
};
${hot}.on('astro-snippets:answer', ({ hash, hasChanged, names }) => {
  if (hash === undefined || hash !== shown()) return;
  if (hasChanged) location.reload();
  else addNames(names);
});
document.addEventListener('visibilitychange', ask);
setInterval(ask, 2000);
ask();
`;
}

/** Escapes this package's errors in modules for the browser, which Astro 5 shows as HTML. */
export function escapeOwnErrors(hot: { send: (...message: never[]) => void }): void {
  const send = hot.send.bind(hot) as (...message: unknown[]) => void;
  hot.send = (...message: { type?: string; err?: { plugin?: string; message: string } }[]) => {
    const [{ type, err } = {}] = message;
    if (type === 'error' && err?.plugin?.startsWith('astro-snippets:')) err.message = toHtml(err.message);
    send(...message);
  };
}

/** Writes text as HTML that shows its lines and their indentation. */
export const toHtml = (text: string): string =>
  escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');
