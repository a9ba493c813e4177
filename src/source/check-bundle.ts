import { join } from 'node:path';
import type { Rolldown } from 'vite';
import type { ErrorCode } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';
import type { WrittenEmbeds } from './find-written.ts';
import type { SiteSource } from './site-source.ts';
import { placeIn } from './source-embeds.ts';
import { fileOf } from './source-file.ts';

/** The end of a sentence about a module. Without a code, it is a warning. */
type Flaw = [message: string, code?: ErrorCode];

const perhapsOnDemand: Flaw = [
  'mentions an embed, and is part of what renders pages on demand, where it would stay empty. There, fetch the snippet with SnippetClient from astro-snippets/client in the frontmatter of the page.',
];

// By Vite's environments in which nothing replaces an embed.
const flawsByEnvironment: Record<string, [certain: Flaw, perhaps: Flaw]> = {
  client: [
    ['writes <snippet-embed> in the browser, where nothing replaces it.', 'embed-in-browser'],
    ['mentions snippet-embed. An embed that it writes in the browser would stay empty.'],
  ],
  ssr: [
    [
      'is built for pages or server islands that are rendered on demand, and contains an embed.',
      'on-demand-page',
    ],
    perhapsOnDemand,
  ],
};

const inIsland: Flaw = ['passes an embed to a server island, which is rendered on demand.', 'on-demand-page'];

/** Why an environment must not publish a module; `undefined` if it may. */
export function flawOf(found: WrittenEmbeds, id: string, environment: string): Flaw | undefined {
  const [certain, perhaps] = flawsByEnvironment[environment] ?? [];
  const isWritten = found.has('writes') || (environment === 'ssr' && found.has('imports'));
  const flaw = (isWritten && certain) || (found.has('passes') ? inIsland : undefined);
  // The site cannot change a package, and the text of a raw file may be an example.
  const isOnlyWarned = id.includes('/node_modules/') || /[?&]raw\b/.test(id);
  return (flaw ? isOnlyWarned : found.has('names')) ? perhaps : flaw;
}

/** @throws AstroError that names each module that must not be published. */
export function checkBundle(
  context: Rolldown.PluginContext,
  bundle: Rolldown.OutputBundle,
  modules: ReadonlyMap<string, WrittenEmbeds>,
  source: SiteSource,
  warn: (file: string, message: string) => void,
): void {
  const { name: environment } = context.environment;
  const candidates = [...modules].filter(([id, found]) => flawOf(found, id, environment));
  // A bundle copies the code of its modules.
  if (candidates.length === 0) return;
  const chunks = Object.values(bundle).flatMap((chunk) => ('modules' in chunk ? [chunk.modules] : []));
  const entries: string[] = [];
  let firstCode: ErrorCode | undefined;
  for (const [id, found] of candidates) {
    if (!chunks.some((bundled) => /snippet/i.test(bundled[id]?.code ?? ''))) continue;
    const reached = environment === 'ssr' ? reachOf(context, id, source) : 'page';
    const certain = flawOf(found, id, reached ? environment : 'prerender');
    if (!certain) continue;
    const [message, code] = reached === 'perhaps' ? perhapsOnDemand : certain;
    const file = fileOf(id);
    const place = isStore(id) ? 'The store of collections' : placeIn(file, source.folders.root).place;
    if (!code) warn(file, `${place} ${message}`);
    else entries.push(`${place}\n    ${message}\n`);
    firstCode ??= code;
  }
  if (!firstCode) return;
  const files = entries.length === 1 ? 'A file contains' : `${entries.length} files contain`;
  const headline = `${files} embeds where no snippet can be inlined.\n`;
  throw userError(firstCode, [headline, ...entries.sort()].join('\n'));
}

export const isStore = (id: string): boolean => id.endsWith('astro:data-layer-content');

// They import everything, shown on a page or not.
const contentModules =
  /astro:content|astro:asset-imports|content-modules\.mjs|data-layer|[?&]astro(?:Content|PropagatedAssets)/;

// Runs for prerendered pages, too.
const middleware = /(?:virtual:astro:|astro-internal:)middleware/;

/** Whether pages rendered on demand show what a module of the server bundle writes. */
function reachOf(context: Rolldown.PluginContext, id: string, { folders, routes, isMixed }: SiteSource) {
  const onDemand = routes.filter(({ isPrerendered, origin }) => !isPrerendered && origin !== 'internal');
  const pages = new Set(onDemand.map(({ entrypoint }) => fileOf(join(folders.root, entrypoint))));
  const seen = new Set([id]);
  let reached: 'perhaps' | undefined;
  for (const each of seen) {
    const { importers = [], dynamicImporters = [], isEntry = false } = context.getModuleInfo(each) ?? {};
    const importing = [...importers, ...dynamicImporters];
    // Astro bundles pages behind a virtual module, so any other entry is a server island.
    const isPage = pages.has(fileOf(each)) || (isEntry && each.endsWith('.astro'));
    if (middleware.test(each) || (contentModules.test(each) && !isStore(id))) reached = 'perhaps';
    else if (isMixed ? isPage : importing.length === 0) return 'page';
    else for (const importer of importing) seen.add(importer);
  }
  return isMixed && pages.size === 0 ? undefined : reached;
}
