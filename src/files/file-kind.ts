import { extname } from 'node:path';
import type { FileKind } from '../embed/found-embed.ts';

/** The kind of a file: a file with a `FileKind` is scanned for embeds, the others are not. */
export type AnyFileKind = FileKind | 'code' | 'compressed' | 'binary';

const kindsByExtension: [kind: AnyFileKind, extensions: RegExp][] = [
  ['html', /^\.(?:html?|xhtml)$/i],
  ['xml', /^\.(?:xml|rss|atom|rdf|svg|xslt?|kml|gpx|opml)$/i],
  ['text', /^\.(?:txt|text|md|markdown|mdx|mdown|mkd)$/i],
  ['json', /^\.(?:json|jsonl|ndjson|webmanifest|geojson|jsonld)$/i],
  ['code', /^\.(?:[cm]?js|css|map)$/i],
  // Servers may send a compressed file in the place of the file beside it.
  ['compressed', /^\.(?:br|gz|zst)$/i],
  [
    'binary',
    /^\.(?:avif|bmp|eot|gif|heic|ico|jpe?g|jxl|mov|mp[34]|ogg|otf|pack|pdf|png|tar|tiff?|ttf|wasm|wav|web[mp]|woff2?|zip)$/i,
  ],
];

/** Tells a file's kind by its extension. A file with an unknown extension is searched: an embed in it is refused. */
export function fileKind(name: string): AnyFileKind {
  const extension = extname(name);
  return kindsByExtension.find(([, extensions]) => extensions.test(extension))?.[0] ?? 'other';
}
