import { setTimeout } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { fileNameOf } from '../../docs/examples.ts';
import { codeBlocks } from '../../docs/pages.ts';
import { httpServer } from '../../support/http/tls-server.ts';
import { serve } from '../../support/http/wire.ts';
import { authorityFile, serviceCertificate } from '../../support/service/authority.ts';
import { buildIn, deployedKey, runSite } from '../../support/site/deployed-site.ts';
import { installedProject } from '../../support/site/installed-project.ts';

// The site of docs/live.md, from the page's own text, as @astrojs/node serves it.

const secret = `whsec_${Buffer.from('the secret of these live snippets').toString('base64')}`;

/** The files of the page's site, by their names. */
function documentedSite(): Record<string, string> {
  const named = codeBlocks('docs/live.md').map(({ code }) => [fileNameOf(code), code] as const);
  return Object.fromEntries(named.filter(([name]) => name !== ''));
}

/** Starts a service whose contents a test sets, by the paths of their requests, and that a test can end. */
async function liveService() {
  const contents = new Map<string, string>();
  const server = await serve(
    httpServer(
      ({ url, headers }, response) => {
        const content = contents.get(new URL(url, 'https://service.test').pathname);
        response.statusCode = headers.authorization !== `Bearer ${deployedKey}` ? 401 : content ? 200 : 404;
        const isProblem = response.statusCode !== 200;
        response.setHeader('content-type', isProblem ? 'application/problem+json' : 'application/json');
        response.end(JSON.stringify(isProblem ? { status: response.statusCode } : { content }));
      },
      { using: serviceCertificate() },
    ),
  );
  const environment = {
    SNIPPETS_API_KEY: deployedKey,
    SNIPPETS_RENDER_BASE_URL: server.origin,
    SNIPPETS_WEBHOOK_SECRET: secret,
    NODE_EXTRA_CA_CERTS: authorityFile(),
  };
  const publish = (id: number, content: string) => contents.set(`/snippets/${id}/render`, content);
  return { server, publish, environment };
}

async function start(files: Record<string, string>, environment: Record<string, string>) {
  const project = await installedProject('npm', { '@astrojs/node': '^11.0.0', standardwebhooks: '^1.0.0' });
  const { exitCode, output } = await buildIn(project, files, environment);
  expect(exitCode, output).toBe(0);
  const site = await runSite(() => [process.execPath, 'dist/server/entry.mjs'], project, environment);
  const fetchPage = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${site.origin}${path}`, init);
    return {
      status: response.status,
      cache: response.headers.get('x-astro-cache'),
      text: await response.text(),
    };
  };
  return { site, fetchPage };
}

/** A call of the service, as Standard Webhooks has it. */
function published(id: number, signedWith = secret): RequestInit {
  const body = JSON.stringify({
    type: 'snippet.published',
    timestamp: new Date().toISOString(),
    data: { id },
  });
  const now = new Date();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
    'webhook-signature': new Webhook(signedWith).sign('msg_1', now, body),
  };
  return { method: 'POST', headers, body };
}

test('the site of docs/live.md shows live snippets, caches pages, and purges them when a snippet is published', async () => {
  const { publish, environment } = await liveService();
  publish(1, '<b>built</b>');
  publish(7, '<b>island</b>');
  publish(43, '<b>first terms</b>');
  const { fetchPage, site } = await start(documentedSite(), environment);

  const home = await fetchPage('/');
  expect(home.text).toContain('<b>built</b>');
  const [, island = ''] = /fetch\("(\/_server-islands\/[^"]+)"/.exec(home.text) ?? [];
  expect(island, home.text).not.toBe('');
  expect((await fetchPage(island)).text).toContain('<b>island</b>');

  expect(await fetchPage('/terms'), site.command.output()).toMatchObject({ status: 200, cache: 'MISS' });
  expect(await fetchPage('/terms')).toMatchObject({ cache: 'HIT' });
  publish(43, '<b>second terms</b>');
  const cached = await fetchPage('/terms');
  expect(cached).toMatchObject({ cache: 'HIT' });
  expect(cached.text).toContain('<b>first terms</b>');

  const wrongSecret = `whsec_${Buffer.from('another secret of these snippets').toString('base64')}`;
  expect(await fetchPage('/purge', published(43, wrongSecret))).toMatchObject({ status: 401 });
  expect(await fetchPage('/purge', published(42))).toMatchObject({ status: 202 });
  expect(await fetchPage('/terms')).toMatchObject({ cache: 'HIT' });
  expect(await fetchPage('/purge', published(43))).toMatchObject({ status: 202 });
  const purged = await fetchPage('/terms');
  expect(purged).toMatchObject({ status: 200, cache: 'MISS' });
  expect(purged.text).toContain('<b>second terms</b>');
});

test('while the service is down, a page shows the last content up to its age, and then what it has instead', async () => {
  const { server, publish, environment } = await liveService();
  publish(1, '<b>built</b>');
  publish(7, '<b>island</b>');
  publish(42, '<b>offer</b>');
  const documented = documentedSite();
  const config = documented['src/live.config.ts'] ?? '';
  const short = { 'src/live.config.ts': config.replace("maxAge: '10m'", "maxAge: '4s', timeout: '1s'") };
  const { fetchPage, site } = await start({ ...documented, ...short }, environment);

  expect((await fetchPage('/offer')).text, site.command.output()).toContain('<b>offer</b>');
  const before = performance.now();
  await server.close();
  expect((await fetchPage('/offer')).text).toContain('<b>offer</b>');
  await setTimeout(2_000);
  expect((await fetchPage('/offer')).text).toContain('<b>offer</b>');

  await setTimeout(before + 5_000 - performance.now());
  const asked = performance.now();
  const page = await fetchPage('/offer');
  expect(page).toMatchObject({ status: 200 });
  expect(page.text).toContain('Ask us for an offer.');
  expect(performance.now() - asked).toBeLessThan(3_000);
  expect(site.command.output()).toContain('The last content is shown meanwhile.');
  expect(site.command.output()).not.toContain(deployedKey);
});
