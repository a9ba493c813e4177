import { extname } from 'node:path';
import type { FileKind } from '../embed/scan.ts';

type Kind = FileKind | 'code' | 'compressed' | 'binary';

const kinds: Readonly<Record<Kind, readonly string[]>> = {
  html: ['.html', '.htm', '.xhtml'],
  xml: ['.xml', '.rss', '.atom', '.rdf', '.svg', '.xsl', '.xslt', '.kml', '.gpx', '.opml'],
  json: ['.json', '.jsonl', '.ndjson', '.webmanifest', '.geojson', '.jsonld'],
  // Everything that is not listed counts as text, too, so that an unknown format is searched.
  text: ['.txt', '.md', '.mdx', '.csv', '.tsv', '.yaml', '.yml', '.ics', '.vcf'],
  code: ['.js', '.mjs', '.cjs', '.css', '.map'],
  // What servers may send in the place of the file beside it.
  compressed: ['.br', '.gz', '.zst'],
  binary:
    `.avif .bmp .eot .gif .heic .ico .jpeg .jpg .jxl .mov .mp3 .mp4 .ogg .otf .pack .pdf .png .tar .tif .tiff .ttf .wasm
    .wav .webm .webp .woff .woff2 .zip`.split(/\s+/),
};
const kindOf = new Map(
  Object.entries(kinds).flatMap(([kind, extensions]) =>
    extensions.map((extension) => [extension, kind as Kind] as const),
  ),
);

/** What a file of the output holds, by its name. */
export function fileKind(name: string): Kind {
  return kindOf.get(extname(name).toLowerCase()) ?? 'text';
}
