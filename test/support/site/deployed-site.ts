import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { freePort } from '../http/free-port.ts';
import { httpServer, type TlsServer } from '../http/tls-server.ts';
import { serve } from '../http/wire.ts';
import { authorityFile, serviceCertificate } from '../service/authority.ts';
import { type RunningCommand, startProcess } from '../tools/command.ts';
import { cleanEnvironment } from '../tools/environment.ts';
import { folderAt } from './folder.ts';
import { configWith } from './site.ts';

/** The key of deployed sites. */
export const deployedKey = 'sk_deployed_5e0b7a91c4d8f263';

/** A service whose every snippet fails once before it is there, as only a client that retries gets it. */
export interface FlakyService {
  server: TlsServer;
  /** The requested paths. */
  asked: string[];
  environment: Record<string, string>;
}

/** Starts a flaky service. @param using a certificate; by default, that of a trusted authority. */
export async function flakyService(
  using: { key: string; cert: string } = serviceCertificate(),
): Promise<FlakyService> {
  const asked: string[] = [];
  const server = await serve(
    httpServer(
      ({ url, headers }, response) => {
        asked.push(url);
        const isFirst = asked.filter((other) => other === url).length === 1;
        response.statusCode = headers.authorization !== `Bearer ${deployedKey}` ? 401 : isFirst ? 503 : 200;
        // With a style, whose hash workers cannot compute.
        response.end(JSON.stringify({ content: `<b>${url}</b><style>b { color: red }</style>` }));
      },
      { using },
    ),
  );
  const environment = {
    SNIPPETS_API_KEY: deployedKey,
    SNIPPETS_RENDER_BASE_URL: server.origin,
    NODE_EXTRA_CA_CERTS: authorityFile(),
    // Deno reads the variable above in its compatibility with Node alone.
    DENO_CERT: authorityFile(),
  };
  return { server, asked, environment };
}

/** The environment of a process that a host runs. */
export const hostEnvironment = (more: Record<string, string>): NodeJS.ProcessEnv => ({
  ...cleanEnvironment(),
  ASTRO_TELEMETRY_DISABLED: '1',
  NO_COLOR: '1',
  ASTRO_KEY: 'eQ4yG3hW1n9mV0s6dLr5bX2cZ8aKtUfPjR7iOqEwYhM=',
  DENO_NO_UPDATE_CHECK: '1',
  WRANGLER_SEND_METRICS: 'false',
  ...more,
});

/** The files of a site with a prerendered page, and pages that are rendered on demand, as docs/live.md has them. */
export const deployedFiles = (adapter: string, call: string): Record<string, string> => ({
  'astro.config.mjs': configWith('', {
    imports: `import adapter from '${adapter}';`,
    settings: `adapter: ${call}, session: false,`,
  }),
  'wrangler.jsonc': JSON.stringify({ name: 'site', compatibility_date: '2026-01-01' }),
  'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  'src/live.config.ts': `
import { defineLiveCollection } from 'astro:content';
import { liveSnippetLoader } from 'astro-snippets/live';
export const collections = {
  snippets: defineLiveCollection({ loader: liveSnippetLoader({ maxAge: '10m', scripts: 'strip' }) }),
};`,
  'src/pages/collection.astro': `---
import { getLiveEntry, render } from 'astro:content';

export const prerender = false;

const id = Number(Astro.url.searchParams.get('id'));
const { entry, error, cacheHint } = await getLiveEntry('snippets', { id });
const { Content } = entry ? await render(entry) : {};
if (error) console.error(error, error.cause);
---
<p data-error={error?.code ?? error?.name}>{cacheHint?.tags}</p>
{Content && <Content />}`,
  'src/pages/live.astro': `---
import { SnippetClient } from 'astro-snippets/client';
import { getSecret } from 'astro:env/server';

export const prerender = false;

const client = new SnippetClient({
  apiKey: getSecret('SNIPPETS_API_KEY') ?? '',
  renderBaseUrl: getSecret('SNIPPETS_RENDER_BASE_URL'),
  // A reader is waiting.
  patience: 0,
});
const { content } = await client.get(42);
await client.close();
---
<Fragment set:html={content} />`,
});

/**
 * Writes a site into a project, and builds it there with Node or another runtime.
 *
 * @param runtime the command and arguments before Astro's file.
 */
export async function buildIn(
  project: string,
  files: Record<string, string>,
  environment: Record<string, string>,
  runtime: readonly [string, ...string[]] = [process.execPath],
): Promise<{ exitCode: number | null; output: string }> {
  const outputs = [
    'dist',
    'src',
    '.astro',
    '.vercel',
    '.netlify',
    '.wrangler',
    'node_modules/.astro',
    'node_modules/.vite',
  ];
  for (const name of outputs) await rm(join(project, name), { recursive: true, force: true });
  await folderAt(project).write(files);
  const [command, ...flags] = runtime;
  const astro = 'node_modules/astro/bin/astro.mjs';
  return startProcess(command, [...flags, astro, 'build'], project, hostEnvironment(environment)).ended;
}

/** A site that a host runs. */
export interface RunningSite {
  /** The URL of the server, without a path. */
  origin: string;
  get(path: string): Promise<{ status: number; text: string }>;
  command: RunningCommand;
}

/**
 * Starts a site's server, and waits until it answers. It is ended with the running test.
 *
 * @param argvFor the command and its arguments, for a port of 127.0.0.1.
 */
export async function runSite(
  argvFor: (port: number) => readonly [string, ...string[]],
  folder: string,
  environment: Record<string, string>,
): Promise<RunningSite> {
  const port = await freePort();
  const [program, ...argv] = argvFor(port);
  const env = hostEnvironment({ ...environment, HOST: '127.0.0.1', PORT: String(port) });
  const command = startProcess(program, argv, folder, env, { isGroup: true });
  let hasEnded = false;
  void command.ended.then(() => {
    hasEnded = true;
  });
  onTestFinished(async () => {
    // The whole group: wrangler starts other processes.
    if (!hasEnded) process.kill(-(command.process.pid as number), 'SIGKILL');
    await command.ended;
  });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  for (let isUp = false; !isUp; await setTimeout(100)) {
    expect(hasEnded, command.output()).toBe(false);
    isUp = await get('/none').then(
      () => true,
      () => false,
    );
  }
  return { origin: `http://127.0.0.1:${port}`, get, command };
}
