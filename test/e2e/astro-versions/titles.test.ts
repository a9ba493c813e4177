import { afterAll, expect, test } from 'vitest';
import { startTestService } from '../../support/service/service.ts';
import { astroVersion } from '../../support/site/installation.ts';
import { createSite } from '../../support/site/site.ts';

const service = await startTestService({ 3: 'Rock & <b>Roll</b>' });
afterAll(() => service.close());

const head = `---
import { Snippet } from 'astro-snippets/components';
---
`;

// With params, so that the helper does not change the markup.
test.for([
  ['in a title', '<title>Shop <Snippet id={3} params={{}} /></title>', 'title'],
  ['between braces in a title', '<title>\n  Shop {<Snippet id={3} params={{}} />}</title>', 'title'],
  ['in a textarea', '<textarea><Snippet id={3} params={{}} /></textarea>', 'textarea'],
] as const)(
  '<Snippet> %s fails a build with Astro before 7, and the error names the file, the line, and what works',
  async ([, element, name]) => {
    const site = await createSite({ 'src/pages/index.astro': `${head}<html><body>${element}</body></html>` });
    const { exitCode, output } = await site.build(service.environment);
    await site.remove();
    expect(exitCode).toBe(1);
    const line = 4 + (element.match(/\n/g)?.length ?? 0);
    expect(output).toContain(
      `src/pages/index.astro:${line} contains <Snippet> in <${name}>, where Astro ${astroVersion} renders no components.`,
    );
    expect(output).toContain('Write <snippet-embed id="42"></snippet-embed> there.');
  },
);

test('the element in a title shows the text of its snippet', async () => {
  const element = '<title>Shop <snippet-embed id="3"></snippet-embed></title>';
  const site = await createSite({ 'src/pages/index.astro': `<html><head>${element}</head></html>` });
  await site.builds(service.environment);
  expect(await site.read('index.html')).toContain('<title>Shop Rock &amp; Roll</title>');
  await site.remove();
});
