import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';

// Other files name the revisions of pages, so that caches know when these have changed: by digests, or in lists of what a
// service worker is to keep.

/** A page that is going to change. */
export interface ChangingPage {
  name: string;
  /** In bytes. */
  size: number;
  /** Reads its bytes until then. Pages may not fit into memory together. */
  read(): Buffer | undefined;
}

/** What may be a digest, and by which algorithm, by its length. */
const digests: { encoding: 'hex' | 'base64'; runs: RegExp; algorithms: Record<number, string> }[] = [
  {
    encoding: 'hex',
    runs: /[0-9a-f]{32,}/g,
    algorithms: { 32: 'md5', 40: 'sha1', 64: 'sha256', 96: 'sha384', 128: 'sha512' },
  },
  {
    encoding: 'base64',
    // Without padding.
    runs: /[A-Za-z0-9+/]{22,}/g,
    algorithms: { 22: 'md5', 27: 'sha1', 43: 'sha256', 64: 'sha384', 86: 'sha512' },
  },
];

/**
 * Finds digests of pages in texts, in hexadecimal or base64. Of the texts nothing is kept, since they may be of any size.
 * Pages are hashed by an algorithm once a text contains what may be one of its digests.
 *
 * @returns what finds a page that a text contains a digest of.
 */
export function digestFinder(pages: readonly ChangingPage[]): (text: string) => string | undefined {
  const tables = new Map<string, Map<string, string>>();
  return (text) => {
    for (const { encoding, runs, algorithms } of digests) {
      for (const [run] of text.matchAll(runs)) {
        const algorithm = algorithms[run.length];
        if (algorithm === undefined) continue;
        const kind = `${algorithm} ${encoding}`;
        const table = tables.get(kind) ?? digestsOf(pages, algorithm, encoding);
        tables.set(kind, table);
        const page = table.get(run);
        if (page !== undefined) return page;
      }
    }
    return undefined;
  };
}

function digestsOf(
  pages: readonly ChangingPage[],
  algorithm: string,
  encoding: 'hex' | 'base64',
): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, read } of pages) {
    const bytes = read();
    if (bytes !== undefined) found.set(hash(algorithm, bytes, encoding).replace(/=+$/, ''), name);
  }
  return found;
}

/** How far the braces of an entry of a precache list may be from its revision. */
const maxEntryLength = 2_000;

const revision = /["']?\brevision["']?\s*:\s*["'`]/;
const urlOf = /["']?\burl["']?\s*:\s*["'`]([^"'`]*)["'`]/;

/**
 * Finds pages in Workbox precache lists: `{ url: 'about/index.html', revision: '…' }`. Entries with `revision: null` are left
 * out: their URL is their version, and a build would not change it either.
 *
 * @param directory the output folder.
 * @returns what finds a page that a text lists, by the text and the name of its file.
 */
export function precachedFinder(
  directory: string,
  pages: readonly ChangingPage[],
): (text: string, name: string) => string | undefined {
  const changing = new Set(pages.map(({ name }) => name));
  const exists = (name: string) =>
    changing.has(name) || statSync(join(directory, name), { throwIfNoEntry: false })?.isFile() === true;
  return (text, name) => {
    for (let at = text.indexOf('revision'); at !== -1; at = text.indexOf('revision', at + 1)) {
      const before = text.slice(Math.max(0, at - maxEntryLength), at);
      const after = text.slice(at, at + maxEntryLength);
      const entry = before.slice(before.lastIndexOf('{') + 1) + after.slice(0, after.indexOf('}') + 1);
      const url = revision.test(entry) ? urlOf.exec(entry)?.[1] : undefined;
      const page =
        url === undefined ? undefined : fileOfUrl(Buffer.from(url, 'latin1').toString(), name, exists);
      if (page !== undefined && changing.has(page)) return page;
    }
    return undefined;
  };
}

/**
 * The file of the output that a URL is answered with. The site's base path is not known here: leading folders of an
 * absolute URL are left out until a file is found.
 *
 * @param from the file that contains the URL.
 */
function fileOfUrl(url: string, from: string, exists: (name: string) => boolean): string | undefined {
  // An empty URL is that of the folder here, and not of the file itself.
  const path = URL.parse(url || './', `https://site.invalid/${from}`)?.pathname;
  if (path === undefined) return undefined;
  const isAbsolute = /^(\/|[a-z]+:)/i.test(url);
  const folders = decoded(path).slice(1).split('/');
  for (let left = 0; left < (isAbsolute ? folders.length : 1); left++) {
    const path = folders.slice(left).join('/');
    const names = /(^|\/)$/.test(path) ? [`${path}index.html`] : [path, `${path}.html`, `${path}/index.html`];
    const found = names.find(exists);
    if (found !== undefined) return found;
  }
  return undefined;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
