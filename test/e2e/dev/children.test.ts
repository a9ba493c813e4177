import { expect, test } from 'vitest';
import { servedSite } from '../../support/site/built-site.ts';
import { fetchPage, type SiteServer, startServer } from '../../support/site/server.ts';
import { configWith, createSite, pageWith } from '../../support/site/site.ts';

const { service, dev } = await servedSite(
  { 1: 'one' },
  {
    'src/pages/optional.astro':
      pageWith(`<html><head><title><snippet-embed id="9" optional>a <b>title</b></snippet-embed></title></head><body>
<p><Snippet id={9} optional><b>children</b></Snippet></p></body></html>`),
  },
);

const view = (path: string) => fetchPage(dev.url + path);

test('astro dev shows the children of an optional embed while its snippet does not exist, with one warning', async () => {
  for (let views = 0; views < 2; views += 1) {
    const { status, html } = await view('/optional');
    expect(status).toBe(200);
    expect(html).toContain('<title>a title</title>');
    expect(html).toContain('<p><b>children</b></p>');
  }
  const warnings = dev
    .output()
    .match(/\[WARN\].*Its children are shown instead on \/optional\. \[not-found\]/g);
  expect(warnings).toHaveLength(1);

  service.put(9, '<i>nine</i>');
  await expect.poll(async () => (await view('/optional')).html).toContain('<i>nine</i>');
  service.unpublish(9);
  await expect.poll(async () => (await view('/optional')).html).toContain('<p><b>children</b></p>');
});

test("astro dev without a key shows children, with one warning, if missingKey is 'children'", async () => {
  const other = await createSite({
    'astro.config.mjs': configWith(`{ missingKey: 'children' }`),
    'src/pages/index.astro': pageWith(
      '<html><body><p><Snippet id={1}><b>children</b></Snippet></p></body></html>',
    ),
    'src/pages/other.astro': '<p><snippet-embed id="1">other</snippet-embed></p>',
    'src/pages/invalid.astro': '<p><snippet-embed id="x">other</snippet-embed></p>',
  });
  let running: SiteServer | undefined;
  try {
    running = await startServer(other, 'dev', { ...service.environment, SNIPPETS_API_KEY: '' });
    const { url } = running;
    const html = async (path: string) => (await fetchPage(url + path)).html;
    for (let views = 0; views < 2; views += 1) {
      expect(await html('/')).toContain('<p><b>children</b></p>');
      expect(await html('/other')).toContain('<p>other</p>');
    }
    expect(await html('/invalid')).toContain('[invalid-id]');
    expect(running.output().match(/SNIPPETS_API_KEY is not set/g)).toHaveLength(1);
  } finally {
    await running?.stop();
    await other.remove();
  }
});
