import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toUnicodeEscape } from '../../embed/escapes.ts';

/**
 * Writes the element with the data that the scripts of a page read.
 *
 * @param hash the hash of what a page of `astro dev` shows.
 * @returns ASCII, since the page may be in any encoding.
 */
export function dataElement(snippets: readonly object[], hash?: string): string {
  const attribute = hash ? ` data-hash="${hash}"` : '';
  // Escaping "<" keeps the data from ending the script element.
  const data = JSON.stringify(snippets).replace(/[<>&\u0080-\uffff]/g, toUnicodeEscape);
  return `<script type="application/json" id="snippet-edit-links"${attribute}>${data}</script>`;
}

// Indentation, blank lines and comments that have their own lines.
const codeComments = /^\s*(?:(?:\/\/.*|\/\*\*[\s\S]*?\*\/)\n\s*)*/gm;

let panelCode: string | undefined;

/** The panel as a script for built pages, without the comments of its source. */
export function panelScript(): string {
  panelCode ??= `${readFileSync(join(import.meta.dirname, 'panel.js'), 'utf8').replace(codeComments, '')}addToPage();\n`;
  return panelCode;
}
