import { execFile } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { imageHost } from '../http/image-host.ts';
import { runFolder } from '../service/authority.ts';
import { startTestService, type TestService } from '../service/service.ts';
import { type CliOptions, type RunningCli, startCli } from '../tools/cli.ts';
import { astroRelease } from './installation.ts';
import { csp } from './policy.ts';
import { sideProductIntegrations } from './side-products.ts';
import { collectionOf, createSite, type Site } from './site.ts';

const embed = (id: number, more = '') => `<snippet-embed id="${id}"${more}></snippet-embed>`;

/** The published snippets. Snippet 6 is optional and not published. */
const contents = (): Record<number, string> => ({
  1: 'the heffalump',
  2: 'about us',
  3: '<b>a</b> & b',
  4: `<img alt="" src="https://${imageHost()}/hero.png">`,
  5: '<style>i { color: red }</style><script>document.title = "five"</script>',
  7: 'our imprint',
  8: '{{ plan }} {{ locale }}',
  9: '<section>words with <a href="/prices">prices</a></section>',
});

const page = (lang: string, more: string) => `---
import { Snippet } from 'astro-snippets/components';
const data = { '@context': 'https://schema.org', '@type': 'Organization', name: '${embed(3)}' };
---
<html lang="${lang}"><head><title>home</title><script type="application/ld+json" set:html={JSON.stringify(data)} /></head>
<body><h1>home</h1>${more}<p><Snippet id={8} params={{ plan: 'pro' }} /></p></body></html>`;

const files = () => ({
  'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import mdx from '@astrojs/mdx';
import snippets from 'astro-snippets';
import { compress, copy } from './side-products.mjs';
const options = {
  csp: 'hash',
  editUrl: (id) => 'https://service.test/' + id,
  images: { hosts: ['${imageHost()}'] },
  links: 'base',
  params: ({ lang }) => (lang === 'de' ? { locale: lang } : undefined),
};
export default defineConfig({
  site: 'https://example.com',
  base: '/docs',
  build: { format: 'preserve' },
  i18n: { locales: ['en', 'de'], defaultLocale: 'en' },
  ${csp && `${csp},`}
  integrations: [mdx(), snippets(options), compress(), copy()],
});`,
  'side-products.mjs': sideProductIntegrations,
  'src/content.config.js': collectionOf('legal', '{ imprint: { id: 7 } }'),
  'src/pages/index.astro': page('en', `<p><Snippet id={1} /></p><p>${embed(6, ' optional')}</p>`),
  'src/pages/de/index.astro': page('de', `<div>${embed(4)}</div>`),
  'src/pages/about.astro': `<html lang="en"><head><title>about ${embed(3)}</title></head>
<body><p>${embed(2)}</p><p title={'${embed(3)}'}>${embed(3)}</p><div>${embed(5)}</div></body></html>`,
  'src/pages/legal.astro': `---
import { getEntry } from 'astro:content';
const { data } = await getEntry('legal', 'imprint');
---
<html lang="en"><head><title>legal</title></head><body><footer set:html={data.content} /></body></html>`,
  'src/pages/plain.astro': '<html lang="en"><head><title>plain</title></head><body>plain</body></html>',
  'src/pages/words.mdx': `import { Snippet } from 'astro-snippets/components';\n\n# Words\n\n<Snippet id={9} />\n`,
  'src/pages/rss.xml.js': `export const GET = () => new Response('<rss version="2.0"><channel><title>x</title><item><title>&lt;snippet-embed id="3" as="text">&lt;/snippet-embed></title><description>&lt;snippet-embed id="1">&lt;/snippet-embed></description></item></channel></rss>');`,
  'src/pages/data.json.js': `export const GET = () => Response.json({ html: '${embed(1)}', optional: '${embed(6, ' optional')}' });`,
});

const decoders = { '.gz': gunzipSync, '.br': brotliDecompressSync, '.zst': zstdDecompressSync };

// Commands are found as `npm run` and `npx` find them.
const bin = join(import.meta.dirname, '../../../node_modules/.bin');
const PATH = `${bin}${delimiter}${process.env['PATH']}`;

/** The folder of the built site, which is only read. The first worker that needs the site builds it. */
async function builtOnce(): Promise<string> {
  const folder = join(runFolder(), `everything-${astroRelease}`);
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    const isFirst = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (isFirst) await build(folder).finally(() => rm(lock, { recursive: true }));
    else await setTimeout(50);
  }
  return folder;
}

function copy(from: string, to: string): void {
  // The synchronous function is five times as fast for many small files.
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
}

async function build(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const service = await startTestService(contents());
  const site = await createSite(files());
  try {
    await site.builds(service.environment);
    const cwd = site.directory;
    const execute = (...[file, ...more]: [string, ...string[]]) => promisify(execFile)(file, more, { cwd });
    await execute(process.execPath, '-e', renewPrecache);
    await execute(process.execPath, join(bin, 'pagefind'), '--site', 'dist');
    // Vite's cache is only of use in this folder.
    await rm(join(cwd, 'node_modules/.vite'), { recursive: true, force: true });
    const made = `${folder}.new`;
    await mkdir(join(made, 'late'), { recursive: true });
    for (const name of lateFiles) {
      copy(join(cwd, 'dist', name), join(made, 'late', name));
      await rm(join(cwd, 'dist', name), { recursive: true });
    }
    copy(cwd, join(made, 'site'));
    await rename(made, folder);
  } finally {
    await site.remove();
    await service.close();
  }
}

/** Files made from the pages after a build, each by its own command. */
const lateFiles = ['pagefind', 'sw.js'] as const;

/** Rewrites `sw.js` in the output. */
export const renewPrecache = "import('./side-products.mjs').then((made) => made.writePrecache('dist'))";

/** A built site with its record, its service, and the command line. */
export interface Everything extends Omit<Site, 'start'> {
  service: TestService;
  /** The path of the site's record. */
  record: string;
  start(arguments_: readonly string[], options?: CliOptions): RunningCli;
  /** All files in folders of the site, by their paths in the site. */
  contents(...folders: string[]): Promise<Map<string, Buffer>>;
  /** All files, decompressed as by a browser, since compressors differ in their settings. */
  decoded(...folders: string[]): Promise<Map<string, string>>;
}

/**
 * Copies the site with everything for the running test, and starts a service for the copy. The site is built
 * once per test run: a copy takes a tenth of the time of a build.
 *
 * @param late more files of the output.
 */
export async function copyOfEverything(...late: (typeof lateFiles)[number][]): Promise<Everything> {
  const [built, service, copied] = await Promise.all([
    builtOnce(),
    startTestService(contents()),
    createSite({}),
  ]);
  onTestFinished(async () => {
    await copied.remove();
    await service.close();
  });
  copy(join(built, 'site'), copied.directory);
  for (const name of late) copy(join(built, 'late', name), join(copied.directory, 'dist', name));
  const start: Everything['start'] = (arguments_, options) =>
    startCli(copied.directory, arguments_, { ...service.environment, PATH }, options);
  const site: Everything = {
    ...copied,
    service,
    record: join(copied.directory, 'node_modules/.astro/astro-snippets/manifest.json'),
    start,
    run: (...arguments_) => start(arguments_).ended,
    async decoded(...folders) {
      const files = Array.from(await site.contents(...folders), ([name, bytes]) => {
        const decode = decoders[extname(name) as keyof typeof decoders];
        return [name, (decode === undefined ? bytes : decode(bytes)).toString()] as const;
      });
      return new Map(files);
    },
    async contents(...folders) {
      const names = await Promise.all(
        folders.map(async (folder) => (await copied.list(folder)).map((name) => `${folder}/${name}`)),
      );
      const read = async (name: string) => [name, await readFile(join(copied.directory, name))] as const;
      return new Map(await Promise.all(names.flat().map(read)));
    },
  };
  return site;
}
