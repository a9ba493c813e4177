import { escapeUTF8 } from 'entities/escape';
import { dataElement } from '../inlining/edit-links/panel-script.ts';
import { pageScript } from './page-script.ts';

/** An error as Astro's overlay shows it. The overlay expects HTML. */
export interface OverlayError {
  name: string;
  title: string;
  /** The message as text, where a browser would show the lines of code. */
  stack: string;
  /** HTML. */
  message: string;
  /** HTML. */
  hint: string;
}

/**
 * Writes a page that shows an error in Astro's overlay instead of the page that was asked for.
 *
 * @param base the base path of the site
 * @param hash what the page would show, so that it asks whether that has changed, and reloads; `undefined` if
 *   it shows no snippets
 */
export function errorPage(base: string, error: OverlayError, hash: string | undefined): string {
  // A "<" in the error could end the script.
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

/** What Vite sends to browsers about an error in a module. */
interface ErrorEvent {
  type?: string;
  err?: { plugin?: string; message: string };
}

/** Escapes this package's errors in modules for the browser, which Astro 5 shows as HTML. */
export function escapeOwnErrors(hot: { send: (...message: never[]) => void }): void {
  const send = hot.send.bind(hot) as (...message: unknown[]) => void;
  hot.send = (...message: ErrorEvent[]) => {
    const [{ type, err } = {}] = message;
    if (type === 'error' && err?.plugin?.startsWith('astro-snippets:')) err.message = toHtml(err.message);
    send(...message);
  };
}

/** Writes text as HTML that shows its lines and their indentation. */
export const toHtml = (text: string): string =>
  escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');
