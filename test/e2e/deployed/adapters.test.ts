import { cp, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  buildIn,
  deployedFiles,
  deployedKey,
  flakyService,
  type RunningSite,
  runSite,
} from '../../support/site/deployed-site.ts';
import { type Folder, folderWith } from '../../support/site/folder.ts';
import { installedProject } from '../../support/site/installed-project.ts';
import { expectKeyNowhere } from '../../support/tools/key-search.ts';

// What each adapter deploys is copied to an empty place, and runs there as its host runs it.

interface Host {
  adapter: string;
  call: string;
  manager: 'npm' | 'pnpm';
  packages: Record<string, string>;
  /** What is deployed: a folder of the project, and its name in the copy. */
  from: string;
  to: string;
  /** The command that runs the copy. `project` has the host's tools. */
  argvFor(port: number, project: string, environment: Record<string, string>): readonly [string, ...string[]];
}

const node = process.execPath;

/**
 * Serves a function that takes and gives what `fetch` does, as Vercel and Netlify call it. Vercel's configuration names
 * the module: with pnpm, all that it needs is bundled, and it is elsewhere.
 */
const functionServer = `
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [, , named] = process.argv;
const entry = named.endsWith('.json') ? './' + JSON.parse(readFileSync(named, 'utf8')).handler : named;
const { default: exported } = await import(entry);
const answer = exported.fetch ? exported.fetch.bind(exported) : exported;
createServer(async ({ url }, response) => {
  const answered = await answer(new Request('http://localhost' + url), {});
  response.writeHead(answered.status).end(Buffer.from(await answered.arrayBuffer()));
}).listen(process.env.PORT, '127.0.0.1');`;

const standalone = {
  adapter: '@astrojs/node',
  call: `adapter({ mode: 'standalone' })`,
  packages: { '@astrojs/node': '^11.0.0' },
  from: 'dist',
  to: 'dist',
  argvFor: () => [node, 'dist/server/entry.mjs'] as const,
};

const adapters: readonly Omit<Host, 'manager'>[] = [
  standalone,
  {
    adapter: '@astrojs/vercel',
    call: 'adapter()',
    packages: { '@astrojs/vercel': '^11.0.0' },
    from: '.vercel/output/functions/_render.func',
    to: '.',
    argvFor: () => [node, 'serve.mjs', './.vc-config.json'],
  },
  {
    adapter: '@astrojs/netlify',
    call: 'adapter()',
    packages: { '@astrojs/netlify': '^8.0.0' },
    from: '.netlify/v1/functions/ssr',
    to: '.',
    argvFor: () => [node, 'serve.mjs', './ssr.mjs'],
  },
  {
    adapter: '@astrojs/cloudflare',
    call: `adapter({ imageService: 'passthrough' })`,
    packages: { '@astrojs/cloudflare': '^14.0.0', wrangler: '^4.0.0' },
    from: 'dist',
    to: 'dist',
    argvFor: (port, project, { SNIPPETS_API_KEY, SNIPPETS_RENDER_BASE_URL }) =>
      [
        ...[node, join(project, 'node_modules/wrangler/bin/wrangler.js'), 'dev'],
        ...['--config', 'dist/server/wrangler.json', '--ip', '127.0.0.1', '--port', String(port)],
        ...['--var', `SNIPPETS_API_KEY:${SNIPPETS_API_KEY}`],
        ...['--var', `SNIPPETS_RENDER_BASE_URL:${SNIPPETS_RENDER_BASE_URL}`],
      ] as unknown as [string, ...string[]],
  },
];

const hosts: readonly Host[] = (['npm', 'pnpm'] as const).flatMap((manager) =>
  adapters.map((adapter) => ({ manager, ...adapter })),
);

/** Builds the site of a host. @returns the copy of what is deployed. */
async function deploy(host: Host, environment: Record<string, string>, more: Record<string, string> = {}) {
  const { adapter, call, manager, packages, from, to } = host;
  const project = await installedProject(manager, packages);
  const { exitCode, output } = await buildIn(
    project,
    { ...deployedFiles(adapter, call), ...more },
    environment,
  );
  expect(exitCode, output).toBe(0);
  const copy = await folderWith({ 'serve.mjs': functionServer });
  // A function folder may have links to packages of the project.
  await cp(join(project, from), join(copy.directory, to), { recursive: true, dereference: true });
  await expectKeyNowhere(copy, output, deployedKey);
  return { project, copy };
}

/** Links the project's packages into the copy, as they are where people install before they start a server. */
async function linkPackages(project: string, copy: Folder, isLinked: (name: string) => boolean = () => true) {
  await copy.write({ 'node_modules/.here': '' });
  const names = await readdir(join(project, 'node_modules'));
  for (const name of names.filter((one) => !one.startsWith('.') && isLinked(one))) {
    await symlink(
      join(project, 'node_modules', name),
      join(copy.directory, 'node_modules', name),
      'junction',
    );
  }
}

test.for(hosts)(
  'pages rendered on demand show their snippets where $adapter ($manager) deploys it',
  async (host) => {
    const service = await flakyService();
    const { project, copy } = await deploy(host, service.environment);
    if (host.adapter === '@astrojs/node') await linkPackages(project, copy);
    const { environment } = service;
    const argvFor = (port: number) => host.argvFor(port, project, environment);
    const site: RunningSite = await runSite(argvFor, copy.directory, environment);

    const page = await site.get('/live');
    expect(page, site.command.output()).toMatchObject({ status: 200 });
    expect(page.text).toContain('<b>/snippets/42/render</b>');
    // The first attempt fails, so p-retry is the one of this package, whatever version the project has.
    expect(service.asked.filter((url) => url.startsWith('/snippets/42'))).toHaveLength(2);

    const live = await Promise.all([7, 8, 7].map((id) => site.get(`/collection?id=${id}`)));
    expect(live, site.command.output()).toEqual(
      [7, 8, 7].map((id) => ({
        status: 200,
        text: expect.stringMatching(new RegExp(`<p>snippet-${id}</p>\\s*<b>/snippets/${id}/render</b>`)),
      })),
    );
    expect((await site.get('/collection?id=0')).text).toContain('data-error="invalid-id"');
    expect(site.command.output()).not.toContain(deployedKey);
  },
);

test('a page whose server lacks undici fails at once, and says that a module is missing', async () => {
  const service = await flakyService();
  const { project, copy } = await deploy({ manager: 'npm', ...standalone }, service.environment);
  await linkPackages(project, copy, (name) => name !== 'undici');
  const site = await runSite(standalone.argvFor, copy.directory, service.environment);

  expect(await site.get('/live')).toMatchObject({ status: 500 });
  expect(site.command.output()).toMatch(
    /the code failed, not the service: Error: Cannot find package 'undici'/,
  );
  expect(service.asked.filter((url) => url.startsWith('/snippets/42'))).toEqual([]);
});

test('in a worker of Cloudflare, a client that a module keeps serves one page after another, and several at once', async () => {
  const service = await flakyService();
  const host = hosts.find(({ adapter }) => adapter === '@astrojs/cloudflare') as Host;
  const { project, copy } = await deploy(host, service.environment, {
    'src/client.ts': `
      import { SnippetClient } from 'astro-snippets/client';
      import { getSecret } from 'astro:env/server';
      let client: SnippetClient | undefined;
      export const sharedClient = () => {
        client ??= new SnippetClient({
          apiKey: getSecret('SNIPPETS_API_KEY') ?? '',
          renderBaseUrl: getSecret('SNIPPETS_RENDER_BASE_URL'),
        });
        return client;
      };`,
    'src/pages/live.astro': `---
import { sharedClient } from '../client';
export const prerender = false;
const { content } = await sharedClient().get(Number(Astro.url.searchParams.get('id')));
---
<Fragment set:html={content} />`,
  });
  const { environment } = service;
  const site = await runSite((port) => host.argvFor(port, project, environment), copy.directory, environment);

  for (const ids of [[1], [2], [3, 4, 5, 4], [2]]) {
    const pages = await Promise.all(ids.map((id) => site.get(`/live?id=${id}`)));
    expect(pages.map(({ text }) => /<b>.*<\/b>/.exec(text)?.[0])).toEqual(
      ids.map((id) => `<b>/snippets/${id}/render</b>`),
    );
  }
});
