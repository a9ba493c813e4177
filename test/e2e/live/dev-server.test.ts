import { expect, test } from 'vitest';
import { sharedService } from '../../support/site/built-site.ts';
import { byAstro } from '../../support/site/installation.ts';
import { startServer } from '../../support/site/server.ts';
import { configWith, temporarySite } from '../../support/site/site.ts';

const service = await sharedService({ 1: '<s>one</s> &amp; only' });

// Astro 5 has live collections behind a flag.
const flag = 'experimental: { liveContentCollections: true },';

const files = {
  'astro.config.mjs': configWith('', {
    imports: "import node from '@astrojs/node';",
    settings: `adapter: node({ mode: 'standalone' }), ${byAstro({ 5: flag, 6: '', 7: '' })}`,
  }),
  'src/live.config.ts': `
import { defineLiveCollection } from 'astro:content';
import { liveSnippetLoader } from 'astro-snippets/live';
export const collections = { snippets: defineLiveCollection({ loader: liveSnippetLoader() }) };`,
  'src/pages/index.astro': `---
import { getLiveCollection, getLiveEntry, render } from 'astro:content';
export const prerender = false;
const id = Astro.url.searchParams.get('id');
const { entry, error } = id ? await getLiveEntry('snippets', { id }) : await getLiveCollection('snippets');
const { Content } = entry ? await render(entry) : {};
---
{Content && <p title={entry.data.text}><Content /></p>}
{error && <p data-name={error.name} data-code={error.code}>{error.message}</p>}`,
};

test('in astro dev, a live page shows what was published, and its errors', async () => {
  const site = await temporarySite(files, service);
  const server = await startServer(site, 'dev', service.environment);
  try {
    const page = async (path: string) => (await fetch(server.url + path)).text();
    expect(await page('/?id=1'), server.output()).toMatch(/title="one &#38; only|title="one &amp; only/);
    expect(await page('/?id=1')).toContain('<s>one</s> &amp; only');
    service.put(1, '<s>two</s>');
    expect(await page('/?id=1')).toContain('<s>two</s>');
    expect(await page('/?id=404')).toContain('data-name="LiveEntryNotFoundError"');
    expect(await page('/?id=x')).toContain('data-code="invalid-id"');
    expect(await page('/')).toContain('data-code="invalid-options"');
    expect(server.output()).not.toContain(service.environment['SNIPPETS_API_KEY']);
  } finally {
    await server.stop();
  }
});

test.runIf(byAstro({ 5: true, 6: false, 7: false }))(
  'where Astro has no live collections, the error says what to use',
  async () => {
    const config = files['astro.config.mjs'].replace(flag, '');
    const site = await temporarySite({ ...files, 'astro.config.mjs': config }, service);
    const { exitCode, output } = await site.build();
    expect(exitCode).toBe(1);
    expect(output).toContain('live.config.ts imports astro-snippets/live');
    expect(output).toContain('experimental.liveContentCollections');
    expect(output).toContain('`SnippetClient` from `astro-snippets/client`');
  },
);
