import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toUnicodeEscape } from '../../embed/escapes.ts';

/** What the scripts of a page read. In ASCII, as it may be in any encoding. */
export function dataElement(snippets: readonly object[], hash?: string) {
  const attribute = hash ? ` data-hash="${hash}"` : '';
  // Without what could end the script.
  const data = JSON.stringify(snippets).replace(/[<>&\u0080-\uffff]/g, toUnicodeEscape);
  return `<script type="application/json" id="snippet-edit-links"${attribute}>${data}</script>`;
}

const codeComments = /^\s*(?:(?:\/\/.*|\/\*\*[\s\S]*?\*\/)\n\s*)*/gm;

let panelCode: string | undefined;

/** The script of each page, without what only its readers need. */
export function panelScript(): string {
  panelCode ??= `${readFileSync(join(import.meta.dirname, 'panel.js'), 'utf8').replace(codeComments, '')}addToPage();\n`;
  return panelCode;
}
