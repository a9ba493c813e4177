import { escapeUTF8 } from 'entities/escape';

/**
 * The page that is shown in place of one that cannot be: Astro's own error overlay, with our report in it. The
 * page loads itself again when what was wrong is mended, because Vite's client is in it.
 *
 * @param base the site's base path, with slashes at both ends.
 */
export function errorPage(base: string, { message, hint }: { message: string; hint: string }): string {
  // Astro's overlay takes these two for HTML, and we have plain text.
  const error = {
    name: 'astro-snippets',
    title: 'Snippets',
    message: asHtml(message),
    hint: asHtml(hint),
    stack: message,
  };
  // In a script, only "<" could end it.
  const json = JSON.stringify(error).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Snippets could not be fetched</title></head>
<body><noscript><pre>${escapeUTF8(`${message}\n${hint}`)}</pre></noscript>
<script type="module">
import { ErrorOverlay } from '${base}@vite/client';
document.body.append(new ErrorOverlay(${json}));
</script>
</body></html>
`;
}

function asHtml(text: string): string {
  return escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');
}
