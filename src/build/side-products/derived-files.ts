import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { escapeText, escapeUTF8 } from 'entities/escape';
import { textOf } from '../../embed/html-scanner.ts';
import { fileKind } from '../../files/kinds.ts';
import { isLargeBinary, overlaps, piecesOf, statsOf } from '../../files/read.ts';
import type { Contents, Manifest } from '../../record/manifest.ts';
import { routeFiles } from '../../settings/site-urls.ts';
import { listSiteFiles, type SiteFile } from '../scan-site.ts';
import { copyOf, type SiteFolder } from './page-copies.ts';

export interface DerivedFile extends SiteFile {
  isCopy: boolean;
  /** The page that it holds and is written with, such as for `200.html`. */
  page?: string;
  rebuild?: string;
  /** Why it is out of date: the end of a sentence that begins with its name. */
  reason: string;
}

interface Changes {
  manifest: Manifest;
  now: Contents;
  /** The snippets that change, by their indexes in the manifest. */
  changed: ReadonlySet<number>;
  mayBeMade(file: SiteFile): boolean;
}

/** Tells what in the text of a file changes: the object of a sentence. */
type Finder = (text: string, name: string) => string | undefined;

const indexEntry = 'pagefind-entry.json';
/** The names of all files that Pagefind writes. */
const indexFile = /^pagefind|\.(pf_\w+|pagefind)$/;

export function findDerivedFiles(folders: SiteFolder[], pages: SiteFile[], changes: Changes): DerivedFile[] {
  if (pages.length === 0) return [];
  const html = pages.find(({ name }) => fileKind(name) === 'html')?.name;
  const pagesOfSize = Map.groupBy(pages, ({ file }) => statSync(file).size);
  const everywhere = [digestFinder(pages), oldTextFinder(changes, pages)];
  return folders.flatMap((folder) => {
    const { directory, isCopy } = folder;
    const finders = [precachedFinder(directory, pages), ...everywhere];
    const { scannable, others } = listSiteFiles([directory], []);
    const files = [...scannable, ...others];
    const indexes = html ? files.filter(({ name }) => basename(name) === indexEntry) : [];
    const isBeside = (index: SiteFile, name: string) =>
      name.startsWith(index.name.slice(0, -indexEntry.length));
    const isOfIndex = (name: string) =>
      indexFile.test(basename(name)) && indexes.some((index) => isBeside(index, name));
    return files.flatMap((found): DerivedFile | [] => {
      const { file, name } = found;
      const derived = { ...copyOf(folder, name), isCopy };
      if (indexes.includes(found)) {
        const reason = `is a search index of pages that change, such as ${html}`;
        // The command deletes the folder: the files of a theme's own search would be gone.
        const hasOthers = files.some((other) => isBeside(found, other.name) && !isOfIndex(other.name));
        if (hasOthers) return { ...derived, reason };
        return { ...derived, rebuild: searchIndexCommand(folder, dirname(name)), reason };
      }
      if (!changes.mayBeMade(found) || /\.(css|map)$/.test(name) || isOfIndex(name) || isLargeBinary(file))
        return [];
      const alike = isCopy ? undefined : pagesOfSize.get(statSync(file).size);
      const bytes = alike && readFileSync(file);
      const page = alike
        ?.filter((page) => fileKind(page.name) === fileKind(name))
        .find((page) => bytes?.equals(readFileSync(page.file)))?.name;
      if (page) return { ...derived, page, reason: `is a copy of ${page}` };
      for (const piece of piecesOf(file, overlaps.revision)) {
        const text = piece.toString();
        for (const find of finders) {
          const what = find(text, name);
          if (what) return { ...derived, reason: `contains ${what}, which changes` };
        }
      }
      return [];
    });
  });
}

/** Removes the index first: Pagefind leaves old files behind. */
function searchIndexCommand({ shown }: SiteFolder, index: string): string {
  const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `"${path}"`);
  const where = index === 'pagefind' ? '' : ` --output-subdir ${quoted(index)}`;
  return `rm -rf ${quoted(posix.join(shown, index))} && pagefind --site ${quoted(shown)}${where}`;
}

const algorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
/** What may be a digest of these in hexadecimal, or in base64 without padding. */
const mayBeDigests = [/[0-9a-f]{32,}/g, /[A-Za-z0-9+/]{22,}/g];

/** Finds digests of pages, which are read once a text has what may be one. */
function digestFinder(pages: readonly SiteFile[]): Finder {
  let names: Map<string, string> | undefined;
  const digestsOf = ({ file, name }: SiteFile) => {
    const bytes = readFileSync(file);
    return algorithms.flatMap((algorithm) => {
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

const entries = /\{[^{}]*\brevision["']?\s*:\s*["'`][^{}]*\}/g;
const urlOf = /["']?\burl["']?\s*:\s*["'`]([^"'`]*)["'`]/;

/**
 * Finds pages in Workbox precache lists: `{ url: 'about/index.html', revision: '…' }`. Without a revision, the URL is the
 * version, and a build would not change it either.
 */
function precachedFinder(directory: string, pages: readonly SiteFile[]): Finder {
  const changing = new Set(pages.map(({ name }) => name));
  const exists = (name: string) => changing.has(name) || statsOf(join(directory, name))?.isFile();
  const isListed = (entry: string, from: string) => {
    const url = urlOf.exec(entry)?.[1];
    // An empty URL means the folder, and not the file itself.
    const path = URL.parse(url || './', `https://site.invalid/${from}`)?.pathname;
    if (url === undefined || path === undefined) return undefined;
    const folders = path.slice(1).split('/');
    // Leading folders of an absolute URL may be the site's base path, which is not known here.
    const bases = /^(\/|[a-z]+:)/i.test(url) ? [...folders.keys()] : [0];
    const paths = bases.map((base) => folders.slice(base).join('/'));
    return paths.flatMap((inside) => [inside, ...routeFiles(inside, '')]).find(exists);
  };
  return (text, name) => {
    for (const [entry] of text.matchAll(entries)) {
      const page = isListed(entry, name);
      if (page && changing.has(page)) return `the revision of ${page}`;
    }
    return undefined;
  };
}

// A shorter text may be in a file for another reason, unless its neighbors are there, too.
const longEnough = 16;
const neighbors = 24;

const spellings: ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  escapeText,
  escapeUTF8,
];

/** Finds old contents, as in `search.json`, or hashes of their scripts, as in `_headers`. */
function oldTextFinder({ manifest, now, changed }: Changes, pages: readonly SiteFile[]): Finder {
  const needles = new Map<
    string,
    { id: number; around?: string[] | undefined; readAround?: () => string[] }
  >();
  for (const index of changed) {
    const { id = 0, content } = manifest.snippets[index] ?? {};
    const { text = '', sources = [] } = content ?? {};
    for (const source of sources) if (!now[index]?.sources?.includes(source)) needles.set(source, { id });
    for (const shown of [text.trim(), textOf(text).trim()].filter(Boolean)) {
      for (const spell of spellings) {
        const spelled = spell(shown);
        const readAround = () => withNeighbors(pages, spelled, spell);
        if (!needles.has(spelled))
          needles.set(spelled, shown.length < longEnough ? { id, readAround } : { id });
      }
    }
  }
  return (file) => {
    for (const [text, needle] of needles) {
      if (!file.includes(text)) continue;
      needle.around ??= needle.readAround?.();
      if (needle.around?.some((one) => file.includes(one)) ?? true) return `what snippet ${needle.id} was`;
    }
    return undefined;
  };
}

function withNeighbors(pages: readonly SiteFile[], text: string, spell: (text: string) => string): string[] {
  const found = new Set<string>();
  for (const page of pages) {
    const html = readFileSync(page.file, 'utf8');
    for (const spelled of [html, textOf(html)].map(spell)) {
      for (let at = spelled.indexOf(text); at !== -1; at = spelled.indexOf(text, at + 1)) {
        const around = spelled.slice(Math.max(0, at - neighbors), at + text.length + neighbors);
        // A page with little else says nothing of another file.
        if (around.length >= longEnough) found.add(around);
      }
    }
  }
  return [...found];
}
