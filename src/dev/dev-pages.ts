import { escapeUTF8 } from 'entities/escape';
import { dataElement, dataId } from '../build/edit-links/edit-links.ts';
import type { UserError } from '../failures/errors.ts';

/** A page asks whether it has changed, and the toolbar, for snippets to be fetched now. */
export const pageEvents = { ask: 'astro-snippets:ask', answer: 'astro-snippets:answer' };

/** The script of each page of `astro dev`. @param hot JavaScript for the page's connection to Vite. */
export function pageScript(hot: string): string {
  return `
const shown = () => document.querySelector('script#${dataId}')?.dataset.hash;
const ask = () => {
  const hash = shown();
  if (hash !== undefined && document.visibilityState === 'visible') ${hot}.send('${pageEvents.ask}', { hash });
};
${hot}.on('${pageEvents.answer}', ({ hash, hasChanged }) => {
  if (hasChanged && hash === shown()) location.reload();
});
document.addEventListener('visibilitychange', ask);
setInterval(ask, 2000);
ask();
`;
}

export type ViewFailure = Pick<UserError, 'message' | 'hint'>;

/** Replaces a page that failed: Astro's own error overlay with our report. It reloads when the error is fixed. */
export function errorPage(base: string, failure: ViewFailure, hash: string | undefined): string {
  const { message, hint } = failure;
  // Only "<" could end the script.
  const json = JSON.stringify(overlayError(failure)).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Error</title></head>
<body>${hash === undefined ? '' : dataElement([], hash)}<noscript><pre>${escapeUTF8(`${message}\n${hint}`)}</pre></noscript>
<script type="module">
import { createHotContext, ErrorOverlay } from '${base}@vite/client';
const hot = createHotContext('/@astro-snippets');
${pageScript('hot')}
document.body.append(new ErrorOverlay(${json}));
</script>
</body></html>
`;
}

/** What Astro's error overlay shows. It expects HTML for the message and the hint. */
function overlayError({ message, hint }: ViewFailure) {
  return {
    name: 'astro-snippets',
    title: 'Snippets',
    message: asHtml(message),
    hint: asHtml(hint),
    stack: message,
  };
}

export function overlayMessage(failure: ViewFailure) {
  // Astro would escape it once more otherwise.
  return { type: 'error' as const, __isEnhancedAstroErrorPayload: true, err: overlayError(failure) };
}

/** Astro 5 shows an error in a module for the browser as HTML: what is written like an element would disappear. */
export function escapeOwnErrors(hot: { send: (...message: never[]) => void }): void {
  const send = hot.send.bind(hot) as (...message: unknown[]) => void;
  hot.send = (...message: { type?: string; err?: { plugin?: string; message: string } }[]) => {
    const [{ type, err } = {}] = message;
    if (type === 'error' && err?.plugin?.startsWith('astro-snippets:')) err.message = asHtml(err.message);
    send(...message);
  };
}

function asHtml(text: string): string {
  return escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');
}
