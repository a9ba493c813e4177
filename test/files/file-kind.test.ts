import { expect, test } from 'vitest';
import { fileKind } from '../../src/files/file-kind.ts';

test.each([
  ['html', '.html .htm .xhtml'],
  ['xml', '.xml .rss .atom .rdf .svg .xsl .xslt .kml .gpx .opml'],
  ['json', '.json .jsonl .ndjson .webmanifest .geojson .jsonld'],
  ['code', '.js .mjs .cjs .css .map'],
  ['compressed', '.br .gz .zst'],
  ['binary', '.avif .jpg .jpeg .mp3 .mp4 .png .tif .tiff .wasm .webm .webp .woff .woff2 .zip'],
  ['text', '.txt .md .mdx .markdown'],
  ['other', '.csv .tsv .yaml .toml .ini .ics .vcf .po .graphql .properties .unknown .jsx .htmlx'],
])('a file is %s if its name ends in one of %s', (kind, extensions) => {
  for (const extension of extensions.split(' ')) {
    expect(fileKind(`folder.js/name.html${extension}`), extension).toBe(kind);
    expect(fileKind(`NAME${extension.toUpperCase()}`), extension).toBe(kind);
  }
});

test('a file without an extension may have any syntax', () => {
  expect(fileKind('_redirects')).toBe('other');
  expect(fileKind('folder.js/html')).toBe('other');
  expect(fileKind('.html')).toBe('other');
});
