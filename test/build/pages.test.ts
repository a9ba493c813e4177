import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byAstro } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

const fence =
  '<span style="color:#E1E4E8">&lt;</span><span style="color:#85E89D">snippet-embed</span><span style="color:#B392F0"> id</span><span style="color:#E1E4E8">=</span><span style="color:#9ECBFF">"999"</span><span style="color:#E1E4E8">&gt;&lt;/</span><span style="color:#85E89D">snippet-embed</span><span style="color:#E1E4E8">&gt;</span>';
// Remark, which older versions of Astro use for Markdown, escapes in another way.
const remark = {
  escape: (html: string) => html.replaceAll('&lt;', '&#x3C;').replaceAll('&gt;', '>'),
  end: '',
  afterMeta: '\n',
};
const markdown = byAstro({
  5: remark,
  6: remark,
  7: { escape: (html: string) => html, end: '\n', afterMeta: '' },
});

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    1: '<b>bold</b> & $& plain',
    2: '<section>block</section>',
    3: 'Rock & Roll <live>',
    4: 'plan {{ plan }} for {{ name }}',
    5: '<script>const a = "</p>";</script>\r\n<snippet-embed id="1"></snippet-embed>',
    6: '<meta name="x" content="y">',
  });
});
afterAll(() => service.close());

describe('snippets are inlined in', () => {
  let site: Site;
  beforeAll(async () => {
    site = await createSite({
      'astro.config.mjs': `
        import mdx from '@astrojs/mdx';
        import { defineConfig } from 'astro/config';
        import snippets from 'astro-snippets';
        export default defineConfig({
          base: '/docs',
          compressHTML: false,
          i18n: { locales: ['en', 'de'], defaultLocale: 'en', fallback: { de: 'en' }, routing: { fallbackType: 'rewrite' } },
          integrations: [mdx(), snippets()],
        });`,
      'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<html><head><title>Ünï <Snippet id={3} /></title><Snippet id={6} /></head><body>
<h1><Snippet id={1}>fallback</Snippet></h1>
<Snippet id="4" params={{ plan: 'a<b', name: 'Zoë "Z"' }} />
<Snippet id={1} as="text" />
<textarea><Snippet id={3} /></textarea>
<!-- <snippet-embed id="999"></snippet-embed> -->
<code>{'<snippet-embed id="999"></snippet-embed>'}</code>
<Fragment set:html={"<snippet-embed id='5'/>"} />
</body></html>`,
      'src/pages/post.md': `# Post

<snippet-embed id="2"></snippet-embed>

Text with <snippet-embed id="1"></snippet-embed> inside.

<snippet-embed id="1"></snippet-embed>

\`<snippet-embed id="999">\`

\`\`\`html
<snippet-embed id="999"></snippet-embed>
\`\`\`
`,
      'src/pages/page.mdx': `import { Snippet } from 'astro-snippets/components';

# Page

<Snippet id={4} params={{ name: 'MDX', plan: 'pro' }} />

<snippet-embed id="1"></snippet-embed>
`,
      'src/pages/part.astro': `---
import { Snippet } from 'astro-snippets/components';
export const partial = true;
---
<li><Snippet id={1} /></li>`,
      'public/old.HTM': '<p>Old <snippet-embed id="1"></snippet-embed></p>',
      'public/strict.xhtml': '<p>Strict <snippet-embed id="1"></snippet-embed></p>',
      'src/pages/none.astro': '<html><body>No embeds here.</body></html>',
    });
    const { exitCode, output } = await site.build(service.environment);
    expect(output, output).toContain('7 snippets in');
    expect(exitCode, output).toBe(0);
  });
  afterAll(() => site.remove());

  test('an Astro page', async () => {
    expect(await site.read('index.html')).toMatchInlineSnapshot(`
      "<!DOCTYPE html>
      <html><head><title>Ünï Rock &amp; Roll</title><meta name="x" content="y"></head><body>
      <h1><b>bold</b> & $& plain</h1>
      plan a&lt;b for Zoë &#34;Z&#34;
      bold &amp; $&amp; plain
      <textarea>Rock &amp; Roll</textarea>
      <!-- <snippet-embed id="999"></snippet-embed> -->
      <code>&lt;snippet-embed id=&quot;999&quot;&gt;&lt;/snippet-embed&gt;</code>
      <script>const a = "</p>";</script>
      <snippet-embed id="1"></snippet-embed>
      </body></html>"
    `);
  });
  test('a Markdown page, where a block replaces its paragraph', async () => {
    expect(await site.read('post/index.html')).toBe(`<!DOCTYPE html>
<meta charset="utf-8"><h1 id="post">Post</h1>
<section>block</section>
<p>Text with <b>bold</b> & $& plain inside.</p>
<p><b>bold</b> & $& plain</p>
<p><code>${markdown.escape('&lt;snippet-embed id="999"&gt;')}</code></p>
<pre class="astro-code github-dark" style="background-color:#24292e;color:#e1e4e8; overflow-x: auto;" tabindex="0" data-language="html"><code><span class="line">${markdown.escape(fence)}</span></code></pre>${markdown.end}`);
  });
  test('an MDX page', async () => {
    expect(await site.read('page/index.html')).toBe(`<!DOCTYPE html>
<meta charset="utf-8"/>${markdown.afterMeta}<h1 id="page">Page</h1>
plan pro for MDX
<b>bold</b> & $& plain`);
  });
  test('a partial page', async () => {
    expect(await site.read('part/index.html')).toBe('<li><b>bold</b> & $& plain</li>');
  });
  test('a page that is an i18n fallback', async () => {
    expect(await site.read('de/part/index.html')).toBe('<li><b>bold</b> & $& plain</li>');
  });
  test('a page from the public folder, as .HTM or .xhtml', async () => {
    expect(await site.read('old.HTM')).toBe('<p>Old <b>bold</b> & $& plain</p>');
    expect(await site.read('strict.xhtml')).toBe('<p>Strict <b>bold</b> & $& plain</p>');
  });
  test('no page without embeds, which stays unchanged', async () => {
    expect(await site.read('none/index.html')).toBe(
      '<!DOCTYPE html>\n<html><body>No embeds here.</body></html>',
    );
  });
});

test.for(['file', 'directory', 'preserve'] as const)(
  'snippets are inlined with build.format "%s"',
  async (format) => {
    const site = await createSite({
      'astro.config.mjs': `
      import { defineConfig } from 'astro/config';
      import snippets from 'astro-snippets';
      export default defineConfig({ build: { format: '${format}' }, integrations: [snippets()] });`,
      'src/pages/about.astro': '<p>A <snippet-embed id="1"></snippet-embed></p>',
      'src/pages/404.astro': '<p>Lost <snippet-embed id="1"></snippet-embed></p>',
    });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    const pages = (await site.list()).filter((name) => name.endsWith('.html'));
    expect(pages).toEqual(['404.html', format === 'directory' ? 'about/index.html' : 'about.html']);
    for (const page of pages) {
      expect(await site.read(page)).toMatch(/^<!DOCTYPE html><p>(A|Lost) <b>bold<\/b> & \$& plain<\/p>$/);
    }
    await site.remove();
  },
);

test('as="html" is accepted on the element and on <Snippet>, and shows HTML', async () => {
  const site = await createSite({
    'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p>A <Snippet id={1} as="html" /></p><p>B <snippet-embed id="1" as="html"></snippet-embed></p>`,
    'src/pages/post.md': 'C <snippet-embed id="1" as="html"></snippet-embed>\n',
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  expect(await site.read('index.html')).toContain(
    '<p>A <b>bold</b> & $& plain</p><p>B <b>bold</b> & $& plain</p>',
  );
  expect(await site.read('post/index.html')).toContain('<p>C <b>bold</b> & $& plain</p>');
  await site.remove();
});

test.for([
  ['the element', '<snippet-embed id="1" as="markdown"></snippet-embed>', 'index.html:'],
  ['<Snippet>', '<Snippet id={1} as="markdown" />', 'not "markdown"'],
] as const)('an invalid `as` on %s fails the build with the values it may have', async ([, embed, where]) => {
  const site = await createSite({
    'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p>${embed}</p>{false && <Snippet id={1} />}`,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/must be "html" or "text"/);
  expect(output).toContain(where);
  await site.remove();
});

test('snippets are inlined in prerendered pages of an adapter with a client folder', async () => {
  const site = await createSite({
    'astro.config.mjs': `
      import node from '@astrojs/node';
      import { defineConfig } from 'astro/config';
      import snippets from 'astro-snippets';
      export default defineConfig({ adapter: node({ mode: 'standalone' }), integrations: [snippets()] });`,
    'src/pages/index.astro': '<p>A <snippet-embed id="1"></snippet-embed></p>',
    'src/pages/live.astro': '---\nexport const prerender = false;\n---\n<p>Live</p>',
  });
  const { exitCode } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(await site.read('client/index.html')).toBe('<!DOCTYPE html><p>A <b>bold</b> & $& plain</p>');
  await site.remove();
});

test('an embed in a feed or in JSON is replaced, and the name of the element alone is left as it is', async () => {
  const clean = JSON.stringify({ html: 'about the snippet-embed element' });
  const site = await createSite({
    'src/pages/index.astro': '<p>A <snippet-embed id="1"></snippet-embed></p>',
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<x>&lt;snippet-embed id="1">&lt;/snippet-embed></x>');`,
    'src/pages/data.json.ts': `export const GET = () => Response.json({ html: '<snippet-embed id="1"></snippet-embed>' });`,
    'src/pages/clean.json.ts': `export const GET = () => new Response(${JSON.stringify(clean)});`,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).not.toContain('[WARN] [astro-snippets]');
  expect(output).toContain('1 snippet in 3 embeds in 3 files');
  expect(await site.read('feed.xml')).toBe('<x>&lt;b&gt;bold&lt;/b&gt; &amp; $&amp; plain</x>');
  expect(JSON.parse(await site.read('data.json'))).toEqual({ html: '<b>bold</b> & $& plain' });
  expect(await site.read('clean.json')).toBe(clean);
  await site.remove();
});

test('a site without embeds builds without an API key, a base URL or a request', async () => {
  const site = await createSite({ 'src/pages/index.astro': '<p>Nothing</p>' });
  const before = service.requests().length;
  expect((await site.build()).exitCode).toBe(0);
  expect(service.requests()).toHaveLength(before);
  await site.remove();
});
