import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { certificate, tunnelProxy } from '../../support/http/tls-server.ts';
import {
  askWith,
  outcomeOf,
  type TransportOutcome,
  transportCases,
} from '../../support/http/transport-cases.ts';
import { serve } from '../../support/http/wire.ts';
import { authorityFile, serviceCertificate } from '../../support/service/authority.ts';
import {
  buildIn,
  deployedFiles,
  flakyService,
  hostEnvironment,
  runSite,
} from '../../support/site/deployed-site.ts';
import { folderAt } from '../../support/site/folder.ts';
import { installedProject } from '../../support/site/installed-project.ts';
import { startProcess } from '../../support/tools/command.ts';

// Bun and Deno come from the registry, since few machines have them.
const packages = { '@astrojs/node': '^11.0.0', bun: '^1.3.0', deno: '^2.5.0' };
const project = await installedProject('npm', packages);
const program = (name: string) => join(project, 'node_modules/.bin', name);
const runtimes = [
  { name: 'Bun', command: [program('bun'), '--bun'] as const },
  { name: 'Deno', command: [program('deno'), 'run', '--allow-all', '--no-lock'] as const },
];

/** Runs a script of the project. @returns its standard output. */
async function outputOf(
  [command, ...flags]: readonly string[],
  code: string,
  environment: Record<string, string>,
) {
  const name = `script-${Math.random()}.mjs`;
  await folderAt(project).write({ [name]: code });
  const running = startProcess(command as string, [...flags, name], project, hostEnvironment(environment));
  const { exitCode, output } = await running.ended;
  expect(exitCode, output).toBe(0);
  return running.stdout();
}

describe.for(runtimes)('with $name', ({ command }) => {
  test.for(transportCases)('$name', async (one) => {
    const { environment } = await flakyService();
    const outcome = await outcomeOf(one, async (request): Promise<TransportOutcome> => {
      const code = `
        import { createTransport } from './node_modules/astro-snippets/dist/client/transport/fetch.js';
        const ask = ${askWith};
        console.log(JSON.stringify(await ask(createTransport, ${JSON.stringify(request)})));`;
      return JSON.parse(await outputOf(command, code, environment));
    });
    expect(outcome).toMatchObject(one.outcome);
  });

  test('a site builds, and serves pages on demand', async () => {
    const { environment, asked } = await flakyService();
    const files = deployedFiles('@astrojs/node', `adapter({ mode: 'standalone' })`);
    const { exitCode, output } = await buildIn(project, files, environment, [...command]);
    expect(exitCode, output).toBe(0);
    expect(await readFile(join(project, 'dist/client/index.html'), 'utf8')).toContain(
      '<b>/snippets/1/render</b>',
    );

    // The server was bundled for Node.
    const site = await runSite(() => [...command, 'dist/server/entry.mjs'], project, environment);
    const page = await site.get('/live');
    expect(page, site.command.output()).toMatchObject({ status: 200 });
    expect(page.text).toContain('<b>/snippets/42/render</b>');
    expect(asked).toHaveLength(4);
  });

  test.for([
    ['the certificate is not trusted', certificate, {}, '[certificate]'],
    [
      'certificates are not to be verified',
      certificate,
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      'NODE_TLS_REJECT_UNAUTHORIZED=0 keeps certificates from being verified. Unset it',
    ],
    [
      'certificates are not to be verified, although this one could be',
      serviceCertificate(),
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      '[invalid-options]',
    ],
    [
      'a file of certificates is named, which `fetch` does not take',
      serviceCertificate(),
      { SNIPPETS_CA_FILE: authorityFile() },
      'Set NODE_EXTRA_CA_CERTS (in Deno, DENO_CERT) instead, or use Node.',
    ],
  ] as const)('a build fails at once, and sends nothing, if %s', async ([, using, variables, says]) => {
    const service = await flakyService(using);
    const files = { 'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>' };
    const { exitCode, output } = await buildIn(
      project,
      { ...deployedFiles('@astrojs/node', `adapter({ mode: 'standalone' })`), ...files },
      { ...service.environment, ...variables },
      [...command],
    );
    expect(output).toContain(says);
    expect(output).not.toContain('Try again');
    expect(exitCode).toBe(1);
    expect(service.asked).toEqual([]);
  });

  test('a server that was bundled for Node sends nothing if certificates are not to be verified', async () => {
    const service = await flakyService(certificate);
    const good = await flakyService();
    const files = deployedFiles('@astrojs/node', `adapter({ mode: 'standalone' })`);
    const { exitCode, output } = await buildIn(project, files, good.environment);
    expect(exitCode, output).toBe(0);
    const environment = { ...service.environment, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const site = await runSite(() => [...command, 'dist/server/entry.mjs'], project, environment);
    expect(await site.get('/live')).toMatchObject({ status: 500 });
    expect(site.command.output()).toContain('keeps certificates from being verified');
    expect(service.asked).toEqual([]);
  });

  test('a proxy of the environment is used, and certificates behind it are verified', async () => {
    const code = `
      import { SnippetClient } from 'astro-snippets/client';
      const { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: renderBaseUrl } = process.env;
      const client = new SnippetClient({ apiKey, renderBaseUrl, patience: 0 });
      console.log(JSON.stringify(await client.get(1).catch(({ code }) => ({ code }))));
      await client.close();`;
    const proxy = await serve(tunnelProxy());
    const variables = { HTTPS_PROXY: proxy.origin, NO_PROXY: '', no_proxy: '' };
    const trusted = await flakyService();
    const content = { content: expect.stringContaining('<b>/snippets/1/render</b>') };
    expect(JSON.parse(await outputOf(command, code, { ...trusted.environment, ...variables }))).toMatchObject(
      content,
    );
    expect(proxy.asked.length).toBeGreaterThan(0);
    for (const asked of proxy.asked) expect(asked).toBe(`localhost:${trusted.server.port} no key`);
    const other = await flakyService(certificate);
    expect(JSON.parse(await outputOf(command, code, { ...other.environment, ...variables }))).toEqual({
      code: 'certificate',
    });
    expect(other.asked).toEqual([]);
  });
});
