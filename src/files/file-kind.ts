import { extname } from 'node:path';
import type { FileKind } from '../embed/found-embed.ts';

type Kind = FileKind | 'code' | 'compressed' | 'binary';

// Everything else counts as text, so that an unknown format is searched.
const kindsByExtension: [kind: Kind, extensions: RegExp][] = [
  ['html', /^\.(?:html?|xhtml)$/i],
  ['xml', /^\.(?:xml|rss|atom|rdf|svg|xslt?|kml|gpx|opml)$/i],
  ['json', /^\.(?:json|jsonl|ndjson|webmanifest|geojson|jsonld)$/i],
  ['code', /^\.(?:[cm]?js|css|map)$/i],
  // What servers may send in the place of the file beside it.
  ['compressed', /^\.(?:br|gz|zst)$/i],
  [
    'binary',
    /^\.(?:avif|bmp|eot|gif|heic|ico|jpe?g|jxl|mov|mp[34]|ogg|otf|pack|pdf|png|tar|tiff?|ttf|wasm|wav|web[mp]|woff2?|zip)$/i,
  ],
];

export function fileKind(name: string): Kind {
  const extension = extname(name);
  return kindsByExtension.find(([, extensions]) => extensions.test(extension))?.[0] ?? 'text';
}
