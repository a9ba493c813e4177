import type { SourceSlice } from './source-slice.ts';

/** How far browsers look for a declaration of the encoding, in bytes. */
const headLength = 1024;

const byteOrderMark = /^\xef\xbb\xbf/;

// The pattern is apart from that of <meta>: together, they take several times as long.
const xmlDeclaration = /^(?:\xef\xbb\xbf)?\s*<\?xml\b(?:[^>]*?\bencoding\s*=\s*["']([\w-]+))?/i;
const charsetDeclaration = /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w-]+)/i;
const xhtmlType = /application\/xhtml\+xml/i;

/** Names of UTF-8. A file that declares UTF-16 in ASCII bytes cannot be UTF-16: browsers read it as UTF-8. */
const utf8Name = /^(?:unicode-1-1-)?utf-?(?:8|16(?:le|be)?)$/i;

/**
 * Reads what a file declares about itself: warns of HTML that is shown in XHTML, and has content written in
 * ASCII if the encoding is not UTF-8.
 */
export function applyDeclarations({ text, isPage, results: { embeds, warnings } }: SourceSlice): void {
  if (embeds.length === 0) return;
  const head = text.slice(0, headLength);
  const xml = xmlDeclaration.exec(head);

  const htmlEmbed = embeds.find(({ format }) => format.as === 'html');
  if (isPage && htmlEmbed && (xml || xhtmlType.test(head))) {
    warnings.push({ flaw: 'in-xhtml', start: htmlEmbed.start });
  }

  const encoding = xml?.[1] ?? charsetDeclaration.exec(head)?.[1] ?? 'utf-8';
  if (byteOrderMark.test(head) || utf8Name.test(encoding)) return;
  for (const embed of embeds) embed.format = { ...embed.format, layers: ['ascii', ...embed.format.layers] };
}
