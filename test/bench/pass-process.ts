import { prepareSnippet } from '../../src/content/prepare-snippet.ts';
import type { GeneratedSite } from '../../src/inlining/generated-site.ts';
import { recordSite } from '../../src/inlining/record-site.ts';
import { OutputVerifier } from '../../src/inlining/verify-output.ts';
import { inlineOutput } from '../../src/integration/inline-output.ts';
import { OutputListing } from '../../src/output/output-listing.ts';
import { listSiteFiles } from '../../src/output/site-files.ts';
import type { FetchedSnippet, SnippetFetcher } from '../../src/snippets/snippet-fetcher.ts';
import type { SnippetUse } from '../../src/snippets/snippet-use.ts';
import { SiteSource } from '../../src/source/site-source.ts';
import { SourceSearch } from '../../src/source/source-search.ts';
import { contentOf } from './contents.ts';

// The work after Astro has generated a site, in its own process: scan, inline, verify, record. Contents
// arrive at once, since the network is measured elsewhere.
const [directory = '', manifest = '', size] = process.argv.slice(2);
const rules = { sanitize: undefined, scripts: 'allow', strict: false, policy: 'none' } as const;

const fetcher = {
  answers: { counts: { requests: 0, retries: 0, cached: 0 }, prefetch() {} },
  missing: new Set(),
  async close() {},
  hostWarnings: async () => [],
  async fetch(uses: readonly SnippetUse[]) {
    const snippets = new Map<string, FetchedSnippet>();
    for (const use of uses) {
      const answer = {
        content: contentOf(use.request.id, { size: Number(size) }),
        variant: 'render',
        milliseconds: 0,
      } as const;
      snippets.set(use.request.key, { ...answer, ...(await prepareSnippet(answer, use, rules)) });
    }
    return snippets;
  },
} as unknown as SnippetFetcher;

const verifier = new OutputVerifier('sk_of_the_benchmark');
const folders = { root: directory, srcDir: directory, publicDir: directory, outDir: directory };
const site: GeneratedSite = {
  directory,
  verifier,
  manifestFile: manifest,
  fetcher,
  previousManifest: undefined,
  urls: { base: '/', trailingSlash: 'ignore', format: 'directory' },
  settings: { apiKey: 'sk_of_the_benchmark', ...rules, exclude: [], urlOptions: [], timeout: 0 } as never,
  logger: { info() {}, warn() {} },
  astro: {
    search: new SourceSearch(new SiteSource(folders, '/', [])),
    hadManifest: false,
    classes: undefined,
    collected: [],
    earlierCopy: new OutputListing(),
    routeToHeaders: new Map(),
    environment: { mode: 'production', directory: '' },
    laterIntegrations: [],
    assets: '_astro',
  },
};

// A function frees its files and their embeds when it returns, as in a build.
async function inlineSite() {
  const files = listSiteFiles([directory], []);
  const made = await inlineOutput(site, files.scannable);
  await verifier.checkOthers(files);
  verifier.refuseKey((names) => names);
  return made;
}

const inlined = await inlineSite();
// No other integration writes later.
if (inlined) await recordSite(site, inlined, verifier.takeListing(), undefined);
