import { join } from 'node:path';
import { type ErrorCode, userError } from '../failures/errors.ts';
import { embedsIn, withoutComments } from './source-embeds.ts';
import { fileOf, readSource, shownSource } from './source-files.ts';
import type { SiteSource } from './source-search.ts';
import type { WrittenEmbeds } from './written-embeds.ts';

/** What is wrong with a module that deals with embeds. Without a code, it is a warning. */
interface Flaw {
  code?: Extract<ErrorCode, 'embed-in-browser' | 'on-demand-page'>;
  /** What follows the name of the file. */
  message: string;
}

const perhapsOnDemand: Flaw = {
  message:
    'mentions an embed, and is part of what renders pages on demand: there, it would stay empty. On demand, fetch the snippet with SnippetClient from astro-snippets/client in the frontmatter of the page.',
};

// By the environments of Vite in which nothing replaces an embed.
const flaws: Readonly<Record<string, readonly [certain: Flaw, perhaps: Flaw]>> = {
  client: [
    {
      code: 'embed-in-browser',
      message: 'writes <snippet-embed> in the browser, where nothing replaces it.',
    },
    { message: 'mentions snippet-embed. An embed that it writes in the browser would stay empty.' },
  ],
  ssr: [
    {
      code: 'on-demand-page',
      message: 'is built for pages or server islands that are rendered on demand, and contains an embed.',
    },
    perhapsOnDemand,
  ],
};
const inIsland: Flaw = {
  code: 'on-demand-page',
  message: 'passes an embed to a server island, which is rendered on demand.',
};

/** Why a module of an environment must not be published; `undefined` if it may. */
export function flawOf(found: WrittenEmbeds, id: string, environment: string): Flaw | undefined {
  const [certain, perhaps] = flaws[environment] ?? [];
  const isWritten = found.has('writes') || (environment === 'ssr' && found.has('imports'));
  const flaw = (isWritten ? certain : undefined) ?? (found.has('passes') ? inIsland : undefined);
  // The site cannot change a package, and the text of a raw file may be an example.
  const isOnlyWarned = id.includes('/node_modules/') || /[?&]raw\b/.test(id);
  return (flaw === undefined ? found.has('names') : isOnlyWarned) ? perhaps : flaw;
}

/** The name of a source with the lines that write embeds, or that name what does. */
export function placeIn(file: string, { folders }: SiteSource): { name: string; line: number } {
  const text = readSource(file);
  const written = new Set(embedsIn(text, file).map(({ line }) => line));
  const named = withoutComments(text, file)
    .split('\n')
    .findIndex((line) => /snippet-embed|astro-snippets\/components/i.test(line));
  const lines = written.size > 0 || named === -1 ? [...written] : [named + 1];
  const name = shownSource(file, folders.root);
  return { name: lines.length === 0 ? name : `${name}:${lines.join(' or ')}`, line: lines[0] ?? 1 };
}

type ModuleInfo = { importers: readonly string[]; dynamicImporters: readonly string[]; isEntry: boolean };

interface BundleContext {
  environment: string;
  /** Whether it contains prerendered pages and others, as in Astro 5. */
  isMixed: boolean;
  source: SiteSource;
  moduleInfo(id: string): ModuleInfo | null;
  warn(id: string, message: string): void;
}

type Bundle = Record<string, { type: string; modules?: Record<string, { code: string | null }> }>;

/** @throws AstroError that names each module that must not be published. */
export function checkBundle(
  bundle: Bundle,
  modules: ReadonlyMap<string, WrittenEmbeds>,
  context: BundleContext,
): void {
  const { environment, source, warn } = context;
  const candidates = [...modules].filter(([id, found]) => flawOf(found, id, environment));
  // A bundle hands over the code of its modules as a copy of each, so it is not asked for nothing.
  if (candidates.length === 0) return;
  const chunks = Object.values(bundle).map(({ modules = {} }) => modules);
  const errors: { code: ErrorCode; text: string }[] = [];
  for (const [id, found] of candidates) {
    if (!chunks.some((modules) => /snippet/i.test(modules[id]?.code ?? ''))) continue;
    const reached = environment === 'ssr' ? reach(id, context) : 'page';
    const flaw = flawOf(found, id, reached === undefined ? 'prerender' : environment);
    if (flaw === undefined) continue;
    const place = isStore(id) ? 'The store of collections' : placeIn(fileOf(id), source).name;
    const { code, message } = reached === 'perhaps' ? perhapsOnDemand : flaw;
    if (code === undefined) warn(id, `${place} ${message}`);
    else errors.push({ code, text: `${place}\n    ${message}` });
  }
  const [first] = errors;
  if (first === undefined) return;
  const entries = errors.map(({ text }) => text).sort();
  const files = entries.length === 1 ? 'A file contains' : `${entries.length} files contain`;
  const message = `${files} embeds where no snippet can be inlined.\n\n${entries.join('\n\n')}\n`;
  throw userError(first.code, message);
}

export function isStore(id: string): boolean {
  return id.endsWith('astro:data-layer-content');
}

// These import everything, so what is reached through them alone may not be shown on any on-demand page.
const contentModules =
  /astro:content|astro:asset-imports|content-modules\.mjs|data-layer|[?&]astro(?:Content|PropagatedAssets)/;
// It runs for prerendered pages too.
const middleware = /(?:virtual:astro:|astro-internal:)middleware/;

/** Whether pages that are rendered on demand show what a module of the server bundle writes. */
function reach(
  id: string,
  { isMixed, source: { folders, routes }, moduleInfo }: BundleContext,
): 'page' | 'perhaps' | undefined {
  const onDemand = routes.filter(({ isPrerendered, origin }) => !isPrerendered && origin !== 'internal');
  const pages = new Set(onDemand.map(({ entrypoint }) => fileOf(join(folders.root, entrypoint))));
  const seen = new Set([id]);
  let reached: 'perhaps' | undefined;
  for (const each of seen) {
    const { importers = [], dynamicImporters = [], isEntry = false } = moduleInfo(each) ?? {};
    // Pages are entries by a virtual module, so an entry of its own is a server island.
    const isPage = pages.has(fileOf(each)) || (isEntry && each.endsWith('.astro'));
    if (middleware.test(each) || (contentModules.test(each) && !isStore(id))) reached = 'perhaps';
    else if (isMixed ? isPage : importers.length + dynamicImporters.length === 0) return 'page';
    else for (const importer of [...importers, ...dynamicImporters]) seen.add(importer);
  }
  return isMixed && pages.size === 0 ? undefined : reached;
}
