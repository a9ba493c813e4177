import { extname, isAbsolute, relative, sep } from 'node:path';
import type { FileKind } from '../embed/scan.ts';

/** With slashes, on all systems. */
export const pathFrom = (folder: string, path: string) => relative(folder, path).replaceAll(sep, '/');

/** A path from where people are, as messages show it. */
export const shownPath = (cwd: string, path: string) => pathFrom(cwd, path) || '.';

/** Whether a path is a folder, or something in it. */
export function contains(folder: string, path: string) {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside !== '..' && !inside.startsWith(`..${sep}`);
}

type Kind = FileKind | 'code' | 'compressed' | 'binary';

// Everything else counts as text, so that an unknown format is searched.
const kinds: readonly [kind: Kind, extensions: RegExp][] = [
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

export function fileKind(name: string) {
  const extension = extname(name);
  return kinds.find(([, extensions]) => extensions.test(extension))?.[0] ?? 'text';
}
