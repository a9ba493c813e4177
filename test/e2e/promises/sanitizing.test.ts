import { expect, test } from 'vitest';
import { servedSite } from '../../support/site/built-site.ts';
import { textWithoutAnswers } from '../../support/site/server.ts';
import { configWith } from '../../support/site/site.ts';

const { service, dev } = await servedSite(
  { 1: '<b onclick="x()">three</b><script>x</script>' },
  {
    'astro.config.mjs': configWith(`{ scripts: 'strip' }`),
    'src/pages/text.html': '<title><snippet-embed id="1"></snippet-embed></title>',
    'src/pages/html.html': '<p><snippet-embed id="1"></snippet-embed></p>',
  },
);

test("scripts: 'strip' in astro dev, for a snippet that was shown as text first", async () => {
  const page = async (name: string) =>
    (await fetch(`${dev.url}/${name}`, { signal: AbortSignal.timeout(60_000) })).text();
  const expectText = async () => {
    const text = await page('text');
    expect(text).toContain('<title>three</title>');
    expect(text).not.toContain('<b');
  };
  await expectText();
  expect(await page('html')).toContain('<b >three</b>');
  await expectText();
  // The prepared HTML comes from memory.
  expect(await textWithoutAnswers(`${dev.url}/html`, service)).toContain('<b >three</b>');
});
