import { join } from 'node:path';
import type { Rolldown } from 'vite';
import { type ErrorCode, errorTable } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';
import { listPlaces } from '../failures/places.ts';
import type { WrittenEmbeds } from './find-written.ts';
import { isGuardedImport } from './prerender-guard.ts';
import type { SiteSource } from './site-source.ts';
import { placeIn } from './source-embeds.ts';
import { fileOf } from './source-file.ts';

/** Why a module must not be published. */
interface Flaw {
  /** The end of a sentence that begins with the module's file. */
  message: string;
  /** Absent for a warning. */
  code?: ErrorCode;
}

const perhapsOnDemand: Flaw = {
  message:
    'mentions an embed, and is part of what renders pages on demand, where it would stay empty. There, show the snippet through liveSnippetLoader from astro-snippets/live.',
};

const passedToIsland: Flaw = {
  message: 'passes an embed to a server island, which is rendered on demand.',
  code: 'on-demand-page',
};

/** Flaws of code that a browser runs. */
export const flawsInBrowser: { certain: Flaw; perhaps: Flaw } = {
  certain: {
    message: 'writes <snippet-embed> in the browser, where nothing replaces it.',
    code: 'embed-in-browser',
  },
  perhaps: {
    message: 'mentions snippet-embed. An embed that it writes in the browser would stay empty.',
  },
};

/** Flaws in Vite's environments in which nothing replaces an embed. Pages of `prerender` are inlined. */
const flawsByEnvironment: Readonly<Record<string, { certain: Flaw; perhaps: Flaw }>> = {
  client: flawsInBrowser,
  ssr: {
    certain: {
      message:
        'is built for pages or server islands that are rendered on demand, and contains an embed that nothing guards.',
      code: 'on-demand-page',
    },
    perhaps: perhapsOnDemand,
  },
};

/** Why a module must not be published as part of an environment; `undefined` if it may. */
export function flawOf(written: WrittenEmbeds, id: string, environment: string): Flaw | undefined {
  const { certain, perhaps } = flawsByEnvironment[environment] ?? {};
  // A browser knows nothing of `isPrerendered`, so a guard counts on the server alone.
  const isWritten = written.has('writes') || written.has(environment === 'ssr' ? 'imports' : 'guards');
  const flaw = (isWritten && certain) || (written.has('passes') && passedToIsland);
  if (!flaw) return written.has('names') ? perhaps : undefined;

  // Only warned of: a site cannot change a package, and the text of a `?raw` import may be an example.
  const isOnlyWarned = id.includes('/node_modules/') || /[?&]raw\b/.test(id);
  return isOnlyWarned ? perhaps : flaw;
}

/** The result of bundling one of Vite's environments. */
interface EnvironmentBundle {
  context: Rolldown.PluginContext;
  bundle: Rolldown.OutputBundle;
  /** The modules that mention an embed, by their ids, with what they do with it. */
  mentions: ReadonlyMap<string, WrittenEmbeds>;
  /** Whether `ssr` also renders the prerendered pages, as in Astro 5. */
  isMixed: boolean;
}

/**
 * Checks that no bundle publishes an embed that nothing would replace. Warns where that is not certain.
 *
 * @throws UserError that names each module that must not be published.
 */
export async function checkBundle(
  { context, bundle, mentions, isMixed }: EnvironmentBundle,
  source: SiteSource,
  warn: (file: string, message: string) => void,
): Promise<void> {
  const { name: environment } = context.environment;
  const candidates = [...mentions].filter(([id, written]) => flawOf(written, id, environment));
  // Reading `modules` of a chunk copies the code of its modules: skip that if nothing can be wrong.
  if (candidates.length === 0) return;

  const chunks = Object.values(bundle).flatMap((chunk) => ('modules' in chunk ? [chunk.modules] : []));
  const entries: string[] = [];
  let firstCode: ErrorCode | undefined;

  for (const [id, written] of candidates) {
    // Tree shaking may have removed the code that mentions an embed.
    if (!chunks.some((modules) => /snippet/i.test(modules[id]?.code ?? ''))) continue;

    const reach = environment === 'ssr' ? await reachOf(id, context, source, isMixed) : 'shown';
    const flaw = flawOf(written, id, reach === 'prerendered' ? 'prerender' : environment);
    if (!flaw) continue;

    const { message, code } = reach === 'perhaps' ? perhapsOnDemand : flaw;
    const isStore = isCollectionStore(id);
    const file = isStore ? 'astro:data-layer-content' : fileOf(id);
    const place = isStore ? 'The store of collections' : placeIn(file, source.folders.root).place;
    if (!code) warn(file, `${place} ${message}${environment === 'ssr' ? onDemandNote(source) : ''}`);
    else entries.push(`${place}\n    ${message}\n`);
    firstCode ??= code;
  }

  if (!firstCode) return;
  const files = entries.length === 1 ? 'A file contains' : `${entries.length} files contain`;
  const headline = `${files} embeds where no snippet can be inlined.\n`;
  // The hint is in the message: bundlers pass on nothing else of an error, as with Astro 7.0.
  const { hint } = errorTable[firstCode];
  throw userError(firstCode, [headline, ...entries.sort(), hint].join('\n'), '');
}

/** Names the pages that may show an embed of which that is not certain. */
function onDemandNote(source: SiteSource) {
  const patterns = onDemandRoutes(source).map(({ pattern }) => pattern);
  return patterns.length > 0 ? ` Rendered on demand: ${listPlaces(patterns)}.` : '';
}

const onDemandRoutes = ({ routes }: SiteSource) =>
  routes.filter(({ isPrerendered, origin }) => !isPrerendered && origin !== 'internal');

/** Matches the module of all entries of collections, and those of its parts with `collectionStorage: 'chunked'`. */
const collectionStore = /astro:data-layer-content(?:-chunk:.*)?$/;

/** Whether a module holds the entries of all collections, or a part of them. */
export const isCollectionStore = (id: string): boolean => collectionStore.test(id);

/** Astro's modules that import every entry of a collection, even one that no page shows, so they prove nothing. */
const contentModules =
  /astro:content|astro:asset-imports|content-modules\.mjs|data-layer|[?&]astro(?:Content|PropagatedAssets)/;

/** The site's middleware. It runs for prerendered pages, too, so an embed in it may be meant for those. */
const middleware = /(?:virtual:astro:|astro-internal:)middleware/;

/** Whether pages on demand show the embed of a module in the server bundle, or only prerendered ones do. */
type Reach = 'shown' | 'perhaps' | 'prerendered';

/** Follows the importers of a module up to the pages that are rendered on demand. */
async function reachOf(
  id: string,
  context: Rolldown.PluginContext,
  source: SiteSource,
  isMixed: boolean,
): Promise<Reach> {
  const pages = new Set(
    onDemandRoutes(source).map(({ entrypoint }) => fileOf(join(source.folders.root, entrypoint))),
  );
  const prerendered = new Set(
    source.routes
      .filter(({ isPrerendered }) => isPrerendered)
      .map(({ entrypoint }) => fileOf(join(source.folders.root, entrypoint))),
  );
  let reach: Reach = 'prerendered';

  // The loop also visits the importers that it adds to the set.
  const seen = new Set([id]);
  for (const each of seen) {
    const { importers = [], dynamicImporters = [], isEntry = false } = context.getModuleInfo(each) ?? {};
    const importing = [...importers, ...dynamicImporters];
    // Astro 6.0 also bundles the prerendered page that a redirect leads to. A component may import a page, too.
    const file = fileOf(each);
    const isOnlyPrerendered = prerendered.has(file) && !pages.has(file);
    if (isOnlyPrerendered && importing.every((importer) => importer.startsWith('\0'))) continue;

    // Astro bundles pages behind a virtual module, so any other entry is a server island.
    const isPage = pages.has(file) || (isEntry && each.endsWith('.astro'));
    const importsAnything = contentModules.test(each) && !isCollectionStore(id);

    if (middleware.test(each) || importsAnything) reach = 'perhaps';
    // A bundle without prerendered pages shows whatever its entries import.
    else if (isMixed ? isPage : importing.length === 0) return 'shown';
    else {
      for (const importer of importing) {
        if (!(await isGuardedImport(context, importer, each))) seen.add(importer);
      }
    }
  }

  return isMixed && pages.size === 0 ? 'prerendered' : reach;
}
