import { escapeUTF8 } from 'entities/escape';
import { pageScript } from './page-script.ts';

/**
 * The page that replaces one that failed: Astro's own error overlay with our report. Contains Vite's client, so that it
 * reloads when the error is fixed.
 *
 * @param base the site's base path, with slashes at both ends.
 */
export function errorPage(base: string, { message, hint }: { message: string; hint: string }): string {
  // Astro's overlay expects HTML for these two.
  const error = {
    name: 'astro-snippets',
    title: 'Snippets',
    message: asHtml(message),
    hint: asHtml(hint),
    stack: message,
  };
  // Only "<" could end the script.
  const json = JSON.stringify(error).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Error</title></head>
<body><noscript><pre>${escapeUTF8(`${message}\n${hint}`)}</pre></noscript>
<script type="module">
import { createHotContext, ErrorOverlay } from '${base}@vite/client';
const hot = createHotContext('/@astro-snippets');
${pageScript('hot')}
document.body.append(new ErrorOverlay(${json}));
</script>
</body></html>
`;
}

function asHtml(text: string): string {
  return escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');
}
