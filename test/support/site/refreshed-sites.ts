import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { GeneratedSite } from '../../../src/inlining/generated-site.ts';
import { recordSite } from '../../../src/inlining/record-site.ts';
import { OutputVerifier } from '../../../src/inlining/verify-output.ts';
import { inlineOutput } from '../../../src/integration/inline-output.ts';
import { OutputListing } from '../../../src/output/output-listing.ts';
import { listSiteFiles } from '../../../src/output/site-files.ts';
import { supersededBy } from '../../../src/record/manifest.ts';
import { readManifest } from '../../../src/record/manifest-file.ts';
import { manifestFile } from '../../../src/record/record-paths.ts';
import { parseOptions } from '../../../src/settings/parse-options.ts';
import { resolveSettings } from '../../../src/settings/settings.ts';
import { SnippetFetcher } from '../../../src/snippets/snippet-fetcher.ts';
import { SiteSource } from '../../../src/source/site-source.ts';
import { SourceSearch } from '../../../src/source/source-search.ts';
import { imageHost } from '../http/image-host.ts';
import type { TestService } from '../service/service.ts';
import { cli } from '../tools/cli.ts';
import { createFolder, type Folder } from './folder.ts';

const ids = [1, 2, 3] as const;

const attributes = fc.record(
  {
    params: fc.constantFrom('{"plan":"pro"}', '{"n":1,"list":["ü",null]}', '{}'),
    as: fc.constantFrom('html', 'text'),
    optional: fc.constantFrom('', 'false'),
  },
  { requiredKeys: [] },
);

const embed = fc
  .tuple(fc.constantFrom(...ids), attributes, fc.constantFrom('', 'children', '<p>chil&amp;dren</p>'))
  .map(([id, more, children]) => {
    const written = Object.entries(more).map(([name, value]) => ` ${name}='${value}'`);
    return `<snippet-embed id="${id}"${written.join('')}>${children}</snippet-embed>`;
  });

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Places in a page, each with an embed. */
const place = fc
  .tuple(
    embed,
    fc.constantFrom(
      (one: string) => `<p>${one}</p>`,
      (one: string) => `<p>text ${one} text</p>`,
      (one: string) => `<div>${one}${one}</div>`,
      (one: string) => `<img alt="${escaped(one)}" src="/a.png">`,
      (one: string) => `<h1>${escaped(one)}</h1>`,
      (one: string) => `<div data-post='${JSON.stringify({ one }).replaceAll("'", '&#39;')}'></div>`,
      (one: string) => `<a href="https://share.test/?text=${encodeURIComponent(one)}">share</a>`,
      (one: string) => `<svg><title>${escaped(one)}</title></svg>`,
      (one: string) => `<script type="application/ld+json">${JSON.stringify({ name: one })}</script>`,
      (one: string) => `<section lang="de">${one}</section>`,
      (one: string) => `<!-- ${one} --><code>${escaped(one)}</code>`,
      (one: string) => `<table><tr><td>${one}</td></tr></table>`,
    ),
  )
  .map(([one, write]) => write(one));

const policies = [
  '',
  `<meta http-equiv="content-security-policy" content="script-src 'self'; style-src 'self'">`,
  `<meta http-equiv="Content-Security-Policy" content="default-src 'self'"/>`,
];

const page = fc
  .tuple(fc.array(place, { maxLength: 4 }), fc.constantFrom(...policies), fc.option(embed), fc.boolean())
  .map(([places, policy, title, isPart]) => {
    const body = places.join('\n');
    const head = `<meta charset="utf-8"><title>${escaped(title ?? 'home')}</title>${policy}`;
    return isPart ? body : `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`;
  });

/** Files of the output: pages, and others with an embed. */
const files = fc.record({
  'index.html': page,
  'a/index.html': page,
  'über uns.html': page,
  'feed.xml': embed.map(
    (one) =>
      `<?xml version="1.0"?><rss version="2.0"><channel><item><title>${escaped(one)}</title><description><![CDATA[${one}]]></description></item></channel></rss>`,
  ),
  'data.json': embed.map((one) => JSON.stringify({ one, nested: JSON.stringify({ one }) })),
  'feed.json': embed.map((one) =>
    JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items: [{ content_html: one }] }),
  ),
  'llms.txt': embed.map((one) => `# Title\n\n${one}\n`),
});

const content = fc.oneof(
  fc.constantFrom(
    '',
    'plain',
    '<b>one</b> &amp; two',
    '<p>a block</p><p>and another</p>',
    `Tom "O'Neil" $& $1 ]]> </script> <!-- 🎉 \u2028 %41`,
    '<script>document.title = 1</script>',
    '<script>document.title = 2</script><style>p { color: red }</style>',
    '<a href="/prices#now">prices</a>',
    '{{ plan }} ü',
    '<svg><path d="M0 0"/></svg>',
  ),
  fc.constantFrom('hero.png', 'late.jpg').map((name) => `<img alt="" src="https://${imageHost()}/${name}">`),
);
const contents = fc.tuple(...ids.map(() => fc.option(content, { freq: 50 })));

const options = fc.record(
  {
    csp: fc.constant('hash'),
    scripts: fc.constantFrom('allow', 'strip'),
    links: fc.constant('base'),
    editLinks: fc.constant(true),
    images: fc.boolean(),
    params: fc.boolean(),
  },
  { requiredKeys: [] },
);

const drawnSite = fc.record({ files, options, before: contents, after: contents });
type DrawnSite = typeof drawnSite extends fc.Arbitrary<infer Drawn> ? Drawn : never;

const urls = {
  site: 'https://site.test',
  base: '/docs',
  trailingSlash: 'ignore',
  format: 'directory',
} as const;

/** Publishes these contents, and unpublishes all other snippets. */
function publish(service: TestService, drawn: DrawnSite['before']): void {
  for (const [index, id] of ids.entries()) {
    const text = drawn[index];
    if (text === null || text === undefined) service.unpublish(id);
    else service.put(id, text);
  }
}

/** Builds a site from its generated files. */
async function build(
  folder: Folder,
  { files, options }: DrawnSite,
  environment: TestService['environment'],
): Promise<void> {
  await folder.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`dist/${name}`, text])));
  const { images, params, ...plain } = options;
  const settings = resolveSettings(
    parseOptions({
      ...plain,
      ...(plain.editLinks && { editUrl: (id: string) => `https://service.test/${id}` }),
      ...(images && { images: { hosts: [imageHost()] } }),
      ...(params && {
        params: ({ page, lang }: { page: string; lang?: string }) => ({ page, plan: lang ?? 'none' }),
      }),
    }),
    environment,
    {
      cacheDirectory: join(folder.directory, 'node_modules/.astro'),
      hasPolicy: true,
      urls,
      assets: { folder: '_astro', prefix: '/docs' },
    },
  );
  const directory = join(folder.directory, 'dist');
  const manifest = manifestFile({
    root: folder.directory,
    cacheDir: join(folder.directory, 'node_modules/.astro'),
    outDir: directory,
  });
  const logger = { info() {}, warn() {} };
  const { manifest: before } = await readManifest(manifest);
  const fetcher = new SnippetFetcher(settings, {
    warn: logger.warn,
    remember: true,
    isSuperseded: supersededBy(before),
  });
  try {
    const files = listSiteFiles([directory], []);
    const verifier = new OutputVerifier(settings.apiKey);
    const folders = {
      root: folder.directory,
      srcDir: join(folder.directory, 'src'),
      publicDir: directory,
      outDir: directory,
    };
    const site: GeneratedSite = {
      verifier,
      fetcher,
      previousManifest: before,
      directory,
      manifestFile: manifest,
      urls,
      settings,
      logger,
      astro: {
        search: new SourceSearch(new SiteSource(folders, '/', [])),
        hadManifest: false,
        collected: [],
        earlierCopy: new OutputListing(),
        classes: undefined,
        routeToHeaders: new Map(),
        environment: { mode: 'production', directory: '' },
        laterIntegrations: [],
        assets: '_astro',
      },
    };
    const inlined = await inlineOutput(site, files.scannable);
    await verifier.checkOthers(files);
    verifier.refuseKey((names) => names);
    if (inlined) await recordSite(site, inlined, verifier.takeListing(), { late: [], compressed: [] });
  } finally {
    await fetcher.close();
  }
}

/**
 * Builds a site twice, with the old and with the new contents, refreshes the first build, and compares both.
 *
 * @returns whether the refresh updated the site. A refresh that did not has changed nothing.
 */
async function expectRefreshLikeBuild(service: TestService, drawn: DrawnSite): Promise<boolean> {
  const [refreshed, built] = await Promise.all([createFolder({}), createFolder({})]);
  try {
    publish(service, drawn.before);
    const first = await succeeds(build(refreshed, drawn, service.environment));
    publish(service, drawn.after);
    const second = await succeeds(build(built, drawn, service.environment));
    if (!first || !second) return false;
    const old = await refreshed.files('dist');
    const { exitCode, output } = await cli(refreshed.directory, ['refresh'], service.environment);
    expect([0, 3], output).toContain(exitCode);
    const now = await refreshed.files('dist');
    if (exitCode === 3) expect(now).toEqual(old);
    else expect(withoutImages(now)).toEqual(withoutImages(await built.files('dist')));
    return exitCode === 0;
  } finally {
    await Promise.all([refreshed.remove(), built.remove()]);
  }
}

/** Tells whether a build succeeds. A build may only fail because of an unpublished snippet. */
function succeeds(building: Promise<void>): Promise<boolean> {
  return building.then(
    () => true,
    (error: Error) => {
      if (error.message.includes('404 Not Found')) return false;
      throw error;
    },
  );
}

/** Leaves out the assets: a refresh leaves unused images there, where they do no harm. */
function withoutImages<T>(all: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !name.includes('_astro/')));
}

/**
 * Tries that a refresh gives the same bytes as a build with the new contents, with random pages, embeds,
 * options and contents. Pages are written as Astro generates them, and then inlined by the code that runs
 * after Astro. A failure prints the seed.
 *
 * @param count the number of sites. For most of them a refresh has to be enough.
 */
export async function tryRefreshes(service: TestService, count: number): Promise<void> {
  let refreshed = 0;
  await fc.assert(
    fc.asyncProperty(drawnSite, async (drawn) => {
      if (await expectRefreshLikeBuild(service, drawn)) refreshed += 1;
    }),
    { numRuns: count },
  );
  expect(refreshed).toBeGreaterThan(count / 2);
}
