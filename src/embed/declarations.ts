import type { SourceSlice } from './source-slice.ts';

// As far as browsers look.
const declarationsEnd = 1024;

const byteOrderMark = /^\xef\xbb\xbf/;

// Apart: together, they take several times as long.
const xmlDeclaration = /^(?:\xef\xbb\xbf)?\s*<\?xml\b(?:[^>]*?\bencoding\s*=\s*["']([\w-]+))?/i;

const xhtmlType = /application\/xhtml\+xml/i;

const charsetDeclaration = /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w-]+)/i;

// What can be read but declares UTF-16 is UTF-8.
const utf8Name = /^(?:unicode-1-1-)?utf-?(?:8|16(?:le|be)?)$/i;

/** A file may say that it is XHTML, or not UTF-8. */
export function readDeclarations({ text, isPage, results: { embeds, warnings } }: SourceSlice): void {
  const head = text.slice(0, declarationsEnd);
  const shown = embeds.find(({ format }) => format.as === 'html');
  const [isXml, encoding = charsetDeclaration.exec(head)?.[1] ?? 'utf-8'] = xmlDeclaration.exec(head) ?? [];
  if (isPage && shown && (isXml || xhtmlType.test(head)))
    warnings.push({ flaw: 'in-xhtml', start: shown.start });
  if (byteOrderMark.test(head) || utf8Name.test(encoding)) return;
  for (const embed of embeds) embed.format = { ...embed.format, layers: ['ascii', ...embed.format.layers] };
}
