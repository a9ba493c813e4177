import { join } from 'node:path';
import { type ErrorCode, userError } from '../failures/errors.ts';
import { embedsIn, withoutComments } from './source-embeds.ts';
import { fileOf, readSource, shownSource } from './source-files.ts';
import type { SiteSource } from './source-search.ts';
import { isStore, type WrittenEmbeds } from './written-embeds.ts';

/** What is wrong with a module that deals with embeds. Without a code, it is a warning. */
interface Flaw {
  code?: Extract<ErrorCode, 'embed-in-browser' | 'on-demand-page'>;
  /** What follows the name of the file. */
  message: string;
}

const inBrowser: Flaw = {
  code: 'embed-in-browser',
  message: 'writes <snippet-embed> in the browser, where nothing replaces it.',
};
const onDemand: Flaw = {
  code: 'on-demand-page',
  message: 'is built for pages or server islands that are rendered on demand, and contains an embed.',
};
const inIsland: Flaw = {
  code: 'on-demand-page',
  message: 'passes an embed to a server island, which is rendered on demand.',
};
const whatWorks =
  'On demand, fetch the snippet with SnippetClient from astro-snippets/client in the frontmatter of the page.';

/** What a module got into the server bundle through. */
type Reached = 'page' | 'content' | 'middleware' | 'prerendered';

const routeWarnings: Record<Exclude<Reached, 'page' | 'prerendered'>, string> = {
  content:
    'pages that are rendered on demand could show this entry of a collection: its embed would stay empty there.',
  middleware:
    'the middleware runs for pages that are rendered on demand, too: its embed would stay empty there.',
};
const storeWarning = `Collections contain embeds, and pages that are rendered on demand use collections: such an embed would stay empty there. ${whatWorks}`;

/** Why a module of an environment must not be published; `undefined` if it may. */
export function flawOf(
  { isWritten, isPassedToIsland, importsComponent, isMentioned }: WrittenEmbeds,
  id: string,
  environment: string,
  { isBuild }: { isBuild: boolean },
): Flaw | undefined {
  const isClient = environment === 'client';
  let flaw = isPassedToIsland ? inIsland : undefined;
  // The dev server has one environment for all pages, so each page is checked when it is served.
  if (environment === 'ssr' && isBuild && (isWritten || importsComponent)) flaw = onDemand;
  if (isClient) flaw = isWritten || isPassedToIsland ? inBrowser : undefined;
  // The site cannot change a package, and the text of a raw file may be an example.
  const isOnlyWarned = id.includes('/node_modules/') || /[?&]raw\b/.test(id);
  if (flaw !== undefined && !isOnlyWarned) return flaw;
  const isShown = isClient || (environment === 'ssr' && isBuild);
  if (!isShown || (flaw === undefined && !isMentioned)) return undefined;
  const place = isClient ? 'in the browser' : 'on a page that is rendered on demand';
  return { message: `mentions snippet-embed. An embed that it writes ${place} would stay empty.` };
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

interface ModuleInfo {
  importers: readonly string[];
  dynamicImporters: readonly string[];
  isEntry: boolean;
}

interface BundleContext {
  environment: string;
  /** Whether it contains prerendered pages and others, as in Astro 5. */
  isMixed: boolean;
  source: SiteSource;
  moduleInfo(id: string): ModuleInfo | null;
  warn(id: string, message: string): void;
}

type Bundle = Record<string, { type: string; modules?: Record<string, { code: string | null }> }>;

/**
 * Checks what a bundle publishes of its modules.
 *
 * @throws AstroError that names each module that must not be published.
 */
export function checkBundle(
  bundle: Bundle,
  modules: ReadonlyMap<string, WrittenEmbeds>,
  context: BundleContext,
): void {
  const { environment, source, warn } = context;
  const candidates = [...modules].filter(([id, module]) =>
    flawOf(module, id, environment, { isBuild: true }),
  );
  // A bundle hands over the code of its modules as a copy of each, so it is not asked for nothing.
  if (candidates.length === 0) return;
  const rendered = new Map(
    Object.values(bundle).flatMap(({ modules = {} }) =>
      Object.entries(modules).map(([id, { code }]) => [id, code ?? ''] as const),
    ),
  );
  const reachedThrough = reach(context);
  const errors: (Flaw & { code: ErrorCode; place: string })[] = [];
  for (const [id, module] of candidates) {
    if (!/snippet/i.test(rendered.get(id) ?? '')) continue;
    const reached = environment === 'ssr' ? reachedThrough(id) : 'page';
    const flaw = flawOf(module, id, reached === 'prerendered' ? 'prerender' : environment, { isBuild: true });
    if (flaw === undefined) continue;
    const place = placeIn(fileOf(id), source).name;
    const { code, message } = flaw;
    if (isStore(id)) warn(id, storeWarning);
    else if (code === undefined) warn(id, `${place} ${message}`);
    else if (reached === 'page' || reached === 'prerendered') errors.push({ code, message, place });
    else warn(id, `${place} contains an embed, and ${routeWarnings[reached]} ${whatWorks}`);
  }
  const [first] = errors;
  if (first === undefined) return;
  const entries = errors
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ place, message }) => `${place}\n    ${message}`);
  throw userError(
    first.code,
    `${errors.length === 1 ? 'A file contains' : `${errors.length} files contain`} embeds where no snippet can be inlined.\n\n${entries.join('\n\n')}\n`,
  );
}

// These import everything, so what is reached through them alone may not be shown on any on-demand page.
const contentModules =
  /astro:content|astro:asset-imports|content-modules\.mjs|data-layer|[?&]astro(?:Content|PropagatedAssets)/;
// It runs for prerendered pages too.
const middleware = /(?:virtual:astro:|astro-internal:)middleware/;

/** Returns a function that tells why a module is in the server bundle. */
function reach({ isMixed, source, moduleInfo }: BundleContext): (id: string) => Reached {
  const onDemand = source.routes.filter(
    ({ isPrerendered, origin }) => !isPrerendered && origin !== 'internal',
  );
  const pages = new Set(onDemand.map(({ entrypoint }) => fileOf(join(source.folders.root, entrypoint))));
  return (id) => {
    const seen = new Set([id]);
    let reached: Reached = 'prerendered';
    for (const each of seen) {
      const info = moduleInfo(each);
      const importers = [...(info?.importers ?? []), ...(info?.dynamicImporters ?? [])];
      // Pages are entries by a virtual module, so any other entry is a server island.
      const isPage = pages.has(fileOf(each)) || (info?.isEntry === true && each.endsWith('.astro'));
      if (contentModules.test(each) && !isStore(id)) {
        if (reached === 'prerendered') reached = 'content';
      } else if (middleware.test(each)) reached = 'middleware';
      else if (isMixed ? isPage : importers.length === 0) return 'page';
      else for (const importer of importers) seen.add(importer);
    }
    return isMixed && pages.size === 0 ? 'prerendered' : reached;
  };
}
