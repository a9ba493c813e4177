import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { servedSite } from '../../support/site/built-site.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const browser = await sharedBrowser();

const snippetImport = `import { Snippet } from 'astro-snippets/components';`;
const layoutImport = `import Layout from '../layouts/Layout.astro';`;

const wrong: Record<string, string> = {
  'src/pages/id.astro': `---
${snippetImport}
---
<html><body>
  <p><Snippet id={1} /></p>
  <p>
    <Snippet id="x" />
  </p>
</body></html>`,
  'src/pages/params.astro': `---
import { Snippet as Text } from 'astro-snippets/components';
${layoutImport}
// <Text id="no tag" />
---
<Layout>
  {[1].map((id) => <Text
    id={id}
    params={[] as never}
  />)}
  <Fragment slot="side"><b>side</b></Fragment>
</Layout>`,
  'src/pages/as.mdx': `---
title: As
---
${snippetImport}

Write \`<Snippet id={42} />\`, or:

\`\`\`mdx
<Snippet id={42} />
\`\`\`

Text <Snippet id={1} /> and

<Snippet id={1} as="markdown">children</Snippet>
`,
  'src/pages/inside.astro': `---
import Card from '../components/Card.astro';
---
<html><body><Card id={0} /></body></html>`,
};

const { site, dev } = await servedSite(
  {},
  {
    'astro.config.mjs': `
      import { defineConfig } from 'astro/config';
      import mdx from '@astrojs/mdx';
      import snippets from 'astro-snippets';
      export default defineConfig({ integrations: [snippets(), mdx()] });`,
    'src/layouts/Layout.astro': '<html><body><slot name="side" /><slot /></body></html>',
    'src/components/Card.astro': `---
${snippetImport}
const { id } = Astro.props;
---
<article>
  <Snippet {id} />
</article>`,
    ...wrong,
  },
);

describe('the error overlay points at an invalid <Snippet>', () => {
  test.each([
    ['/id', 'src/pages/id.astro:7:5', 'not "x"', 'id="x"'],
    ['/params', 'src/pages/params.astro:7:20', 'params', '<Text'],
    ['/as', 'src/pages/as.mdx:14:1', '`as` must be', 'as="markdown"'],
    ['/inside', 'src/components/Card.astro:6:3', 'not the number 0', '<Snippet {id} />'],
  ])('on %s: %s', async (path, place, reason, line) => {
    const page = await browser.newPage();
    let opened = '';
    await page.route('**/__open-in-editor*', (route) => {
      opened = new URL(route.request().url()).searchParams.get('file') ?? '';
      return route.fulfill({ body: '' });
    });
    await page.goto(dev.url + path);
    const overlay = page.locator('vite-error-overlay');
    await overlay.waitFor({ state: 'attached' });
    expect(await overlay.locator('#code header h2').getAttribute('title')).toBe(join(site.directory, place));
    expect(await overlay.locator('#message-content').textContent()).toContain(reason.replaceAll('`', ''));
    await expect.poll(() => overlay.locator('.error-line').textContent()).toContain(line);
    await overlay.getByText('Open in editor').click();
    await expect.poll(() => opened).toBe(join(site.directory, place));
    await page.close();
  });
});
