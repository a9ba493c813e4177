import { escapeUTF8 } from 'entities/escape';
import { dataElement } from '../inlining/edit-links/panel-script.ts';
import { pageScript } from './page-script.ts';

/** Shows an error in Astro's overlay, and reloads when it is fixed. */
export function errorPage(base: string, error: { message: string; hint: string }, hash: string | undefined) {
  // Only "<" could end the script.
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

/** Astro 5 shows an error in a module for the browser as HTML. */
export function escapeOwnErrors(hot: { send: (...message: never[]) => void }): void {
  const send = hot.send.bind(hot) as (...message: unknown[]) => void;
  hot.send = (...message: { type?: string; err?: { plugin?: string; message: string } }[]) => {
    const [{ type, err } = {}] = message;
    if (type === 'error' && err?.plugin?.startsWith('astro-snippets:')) err.message = asHtml(err.message);
    send(...message);
  };
}

export const asHtml = (text: string): string =>
  escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');
