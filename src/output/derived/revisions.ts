import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statsOf } from '../../files/read.ts';
import { routeFiles } from '../../settings/site-urls.ts';
import type { SiteFile } from '../site-files.ts';
import type { Finder } from './finder.ts';

const digestAlgorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];

/** In hexadecimal, or in base64 without padding. */
const mayBeDigests = [/[0-9a-f]{32,}/g, /[A-Za-z0-9+/]{22,}/g];

/** Pages are read once a text has what may be a digest. */
export function digestFinder(pages: SiteFile[]): Finder {
  let names: Map<string, string> | undefined;
  const digestsOf = ({ file, name }: SiteFile) => {
    const bytes = readFileSync(file);
    return digestAlgorithms.flatMap((algorithm) => {
      const digest = hash(algorithm, bytes, 'buffer');
      const written = [digest.toString('hex'), digest.toString('base64').replace(/=+$/, '')];
      return written.map((text) => [text, name] as const);
    });
  };
  return (text) => {
    for (const [run] of mayBeDigests.flatMap((runs) => [...text.matchAll(runs)])) {
      names ??= new Map(pages.flatMap(digestsOf));
      const page = names.get(run);
      if (page) return `the revision of ${page}`;
    }
    return undefined;
  };
}

const precacheEntries = /\{[^{}]*\brevision["']?\s*:\s*["'`][^{}]*\}/g;

const precacheUrl = /["']?\burl["']?\s*:\s*["'`]([^"'`]*)["'`]/;

/**
 * Finds pages in Workbox precache lists: `{ url: 'about/index.html', revision: '…' }`. A build would not change entries without
 * a revision.
 */
export function precachedFinder(directory: string, pages: SiteFile[]): Finder {
  const changing = new Set(pages.map(({ name }) => name));
  const exists = (name: string) => changing.has(name) || statsOf(join(directory, name))?.isFile();
  const listedIn = (entry: string, from: string) => {
    const url = precacheUrl.exec(entry)?.[1];
    // An empty URL means the folder, not the file itself.
    const path = URL.parse(url || './', `https://site.invalid/${from}`)?.pathname;
    if (url === undefined || path === undefined) return undefined;
    const folders = path.slice(1).split('/');
    // It may begin with a base path, which is not known here.
    const bases = /^(\/|[a-z]+:)/i.test(url) ? [...folders.keys()] : [0];
    const paths = bases.map((base) => folders.slice(base).join('/'));
    return paths.flatMap((inside) => [inside, ...routeFiles(inside, '')]).find(exists);
  };
  return (text, name) => {
    for (const [entry] of text.matchAll(precacheEntries)) {
      const page = listedIn(entry, name);
      if (page && changing.has(page)) return `the revision of ${page}`;
    }
    return undefined;
  };
}
