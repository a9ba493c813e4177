import { escapeUTF8 } from 'entities/escape';
import { dataElement } from '../build/edit-links/edit-links.ts';
import { pageScript } from './page-messages.ts';

/**
 * The page that replaces one that failed: Astro's own error overlay with our report. Contains Vite's client, so that it
 * reloads when the error is fixed.
 *
 * @param base the site's base path, with slashes at both ends.
 * @param hash of what the page shows, if that may change.
 */
export function errorPage(
  base: string,
  { message, hint }: { message: string; hint: string },
  hash: string | undefined,
): string {
  // Only "<" could end the script.
  const json = JSON.stringify(overlayError({ message, hint })).replaceAll('<', '\\u003c');
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
function overlayError({ message, hint }: { message: string; hint: string }) {
  return {
    name: 'astro-snippets',
    title: 'Snippets',
    message: asHtml(message),
    hint: asHtml(hint),
    stack: message,
  };
}

/** A message to Vite's client that shows the overlay on pages that are open. */
export function overlayMessage(failure: { message: string; hint: string }) {
  // Astro would escape it once more otherwise.
  return { type: 'error' as const, __isEnhancedAstroErrorPayload: true, err: overlayError(failure) };
}

interface HotChannel {
  send: (...message: never[]) => void;
}

/**
 * Makes the overlay show the errors of our plugins as text. Astro 5 shows an error in a module for the browser as HTML,
 * and what is written like an element disappears.
 */
export function escapeOwnErrors(hot: HotChannel): void {
  const send = hot.send.bind(hot) as (...message: unknown[]) => void;
  hot.send = (...message: unknown[]) => {
    const [first] = message as [{ type?: string; err?: { plugin?: string; message: string } } | undefined];
    if (first?.type !== 'error' || !first.err?.plugin?.startsWith('astro-snippets:')) return send(...message);
    send({ ...first, err: { ...first.err, message: asHtml(first.err.message) } });
  };
}

function asHtml(text: string): string {
  return escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');
}
