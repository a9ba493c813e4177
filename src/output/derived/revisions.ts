import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statsOf } from '../../files/read.ts';
import { filesAt } from '../../settings/route-files.ts';
import type { SiteFile } from '../site-files.ts';
import type { TraceFinder } from './site-changes.ts';

const digestAlgorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
/** What may be a digest in base64 without padding, or may contain one in hexadecimal. */
const digestPattern = /[A-Za-z0-9+/]{22,}/g;
const hexadecimalPattern = /[0-9a-f]{32,}/g;

/** Finds digests of pages. The pages are hashed only when a text has what may be a digest. */
export function digestFinder(pages: readonly SiteFile[]): TraceFinder {
  let pageByDigest: Map<string, string> | undefined;
  const digestsOf = ({ file, name }: SiteFile) => {
    const bytes = readFileSync(file);
    return digestAlgorithms.flatMap((algorithm) => {
      const digest = hash(algorithm, bytes, 'buffer');
      const spellings = [digest.toString('hex'), digest.toString('base64').replace(/=+$/, '')];
      return spellings.map((text) => [text, name] as const);
    });
  };

  return (text) => {
    for (const [run] of text.matchAll(digestPattern)) {
      pageByDigest ??= new Map(pages.flatMap(digestsOf));
      for (const candidate of [run, ...(run.match(hexadecimalPattern) ?? [])]) {
        const page = pageByDigest.get(candidate);
        if (page) return { kind: 'revision', page };
      }
    }
    return undefined;
  };
}

/** An object of a precache list, such as `{ url: 'about/index.html', revision: '…' }`, and its `url`. */
const precacheEntry = /\{[^{}]*\brevision["']?\s*:\s*["'`][^{}]*\}/g;
const precacheUrl = /["']?\burl["']?\s*:\s*["'`]([^"'`]*)["'`]/;

/** Finds changing pages in Workbox precache lists, by entries with a revision: others do not go stale. */
export function precacheFinder(directory: string, changingPages: readonly SiteFile[]): TraceFinder {
  const changing = new Set(changingPages.map(({ name }) => name));
  const exists = (name: string) => changing.has(name) || statsOf(join(directory, name))?.isFile();

  /** Finds the file that an entry lists, whose URL is relative to the path of the file with the list. */
  const findListedFile = (entry: string, list: string) => {
    const url = precacheUrl.exec(entry)?.[1];
    if (url === undefined) return undefined;
    // An empty URL means the folder of the list, so it is parsed as `./`.
    const path = URL.parse(url || './', `https://site.invalid/${list}`)?.pathname;
    if (path === undefined) return undefined;
    const segments = path.slice(1).split('/');
    // An absolute URL may begin with a base path, which is not known here, so each suffix is tried.
    const starts = /^(\/|[a-z]+:)/i.test(url) ? [...segments.keys()] : [0];
    const paths = starts.map((start) => segments.slice(start).join('/'));
    return paths.flatMap((name) => filesAt(`/${name}`, { base: '/', format: 'preserve' })).find(exists);
  };

  return (text, name) => {
    for (const [entry] of text.matchAll(precacheEntry)) {
      const page = findListedFile(entry, name);
      if (page && changing.has(page)) return { kind: 'revision', page };
    }
    return undefined;
  };
}
