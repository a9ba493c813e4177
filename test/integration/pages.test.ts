import { describe, expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { astroVersion, byAstro, isFirstOfMajor } from '../support/site/installation.ts';
import { configWith, pageWith } from '../support/site/site.ts';

// Older versions of Astro use Remark, which escapes differently.
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
const unescapeFence = (html: string) =>
  html.replaceAll('&#x3C;', '&lt;').replaceAll(/(?<!\/code|<code|pre)>/g, '&gt;');
const lacksFallback = isFirstOfMajor && astroVersion === 6;
const clean = '{"html":"about the snippet-embed element"}';

const { site, output } = await builtSite(
  {
    1: '<b>bold</b> & $& plain',
    2: '<section>block</section>',
    3: 'Rock & Roll <live>',
    4: 'plan {{ plan }} for {{ name }}',
    5: '<script>const a = "</p>";</script>\r\n<snippet-embed id="1"></snippet-embed>',
    6: '<meta name="x" content="y">',
  },
  {
    'astro.config.mjs': configWith("{ scripts: 'allow' }", {
      imports: `import mdx from '@astrojs/mdx';`,
      settings: `base: '/docs', compressHTML: false,
        i18n: { locales: ['en', 'de'], defaultLocale: 'en', fallback: { de: 'en' }, routing: { fallbackType: 'rewrite' } },`,
      integrations: 'mdx(), ',
    }),
    'src/pages/index.astro':
      pageWith(`<html><head><title>Ünï <Snippet id={3} /></title><Snippet id={6} /></head><body>
<h1><Snippet id={1}>fallback</Snippet></h1>
<Snippet id="4" params={{ plan: 'a<b', name: 'Zoë "Z"' }} />
<Snippet id={1} as="text" /> <Snippet id={1} as="html" /> <snippet-embed id="1" as="html"></snippet-embed>
<textarea><Snippet id={3} /></textarea>
<!-- <snippet-embed id="999"></snippet-embed> -->
<code>{'<snippet-embed id="999"></snippet-embed>'}</code>
<Fragment set:html={"<snippet-embed id='5'/>"} />
</body></html>`),
    'src/pages/post.md': `# Post

<snippet-embed id="2"></snippet-embed>

Text with <snippet-embed id="1" as="html"></snippet-embed> inside.

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
    'src/pages/404.astro': '<p>Lost <snippet-embed id="1"></snippet-embed></p>',
    'public/old.HTM': '<p>Old <snippet-embed id="1"></snippet-embed></p>',
    'public/strict.xhtml': '<p>Strict <snippet-embed id="1"></snippet-embed></p>',
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<x>&lt;snippet-embed id="1">&lt;/snippet-embed></x>');`,
    'src/pages/data.json.ts': `export const GET = () => Response.json({ html: '<snippet-embed id="1"></snippet-embed>' });`,
    'src/pages/none.astro': '<html><body>No embeds here.</body></html>',
    'src/pages/clean.json.ts': `export const GET = () => new Response('${clean}');`,
  },
);

describe('snippets are inlined in', () => {
  test('an Astro page', async () => {
    expect(await site.read('index.html')).toMatchInlineSnapshot(`
      "<!DOCTYPE html>
      <html><head><title>Ünï Rock &amp; Roll</title><meta name="x" content="y"></head><body>
      <h1><b>bold</b> & $& plain</h1>
      plan a&lt;b for Zoë &#34;Z&#34;
      bold &amp; $&amp; plain <b>bold</b> & $& plain <b>bold</b> & $& plain
      <textarea>Rock &amp; Roll</textarea>
      <!-- <snippet-embed id="999"></snippet-embed> -->
      <code>&lt;snippet-embed id=&quot;999&quot;&gt;&lt;/snippet-embed&gt;</code>
      <script>const a = "</p>";</script>
      <snippet-embed id="1"></snippet-embed>
      </body></html>"
    `);
  });

  test('a Markdown page, where a block replaces its paragraph', async () => {
    const page = await site.read('post/index.html');
    // On a busy machine, a highlighter may time out and leave the rest of a line alone. That of Astro 7.0 escapes otherwise.
    const plain = page.replaceAll(/<\/?span[^>]*>|(?<=<pre)[^>]*|\n(?=<\/code>)/g, '');
    const shown = isFirstOfMajor && astroVersion === 7 ? plain.replace(/(?<=<pre>).*/, unescapeFence) : plain;
    expect(shown).toBe(`<!DOCTYPE html>
<meta charset="utf-8"><h1 id="post">Post</h1>
<section>block</section>
<p>Text with <b>bold</b> & $& plain inside.</p>
<p><b>bold</b> & $& plain</p>
<p><code>${markdown.escape('&lt;snippet-embed id="999"&gt;')}</code></p>
<pre><code>${markdown.escape('&lt;snippet-embed id="999"&gt;&lt;/snippet-embed&gt;')}</code></pre>${markdown.end}`);
  });

  test.for<[what: string, name: string, expected: string]>([
    [
      'an MDX page',
      'page/index.html',
      `<!DOCTYPE html>
<meta charset="utf-8"/>${markdown.afterMeta}<h1 id="page">Page</h1>
plan pro for MDX
<b>bold</b> & $& plain`,
    ],
    ['a partial page', 'part/index.html', '<li><b>bold</b> & $& plain</li>'],
    ['a page that is an i18n fallback', 'de/part/index.html', '<li><b>bold</b> & $& plain</li>'],
    ['an error page', '404.html', '<!DOCTYPE html>\n<p>Lost <b>bold</b> & $& plain</p>'],
    ['a page from the public folder, as .HTM', 'old.HTM', '<p>Old <b>bold</b> & $& plain</p>'],
    ['a page from the public folder, as .xhtml', 'strict.xhtml', '<p>Strict <b>bold</b> & $& plain</p>'],
    ['a feed that escapes HTML', 'feed.xml', '<x>&lt;b&gt;bold&lt;/b&gt; &amp; $&amp; plain</x>'],
    ['JSON', 'data.json', '{"html":"<b>bold</b> & $& plain"}'],
    [
      'no page without embeds',
      'none/index.html',
      '<!DOCTYPE html>\n<html><body>No embeds here.</body></html>',
    ],
    ['no file that only names the element', 'clean.json', clean],
  ])('%s', async ([, name, expected], { skip }) => {
    skip(lacksFallback && name.startsWith('de/'), 'Astro 6.0 writes no pages of a fallback language');
    // Astro 5.0 adds a style for images.
    const text = await site.read(name);
    expect(text.replace(/<style>\[data-astro-image\][\s\S]*?<\/style>/, '')).toBe(expected);
  });

  test('as many places as the build says, without a warning', () => {
    const places = lacksFallback ? /7 snippets in \d+ embeds/ : /7 snippets in 36 embeds in 14 files/;
    expect(output).toMatch(places);
    // Astro 5.0 warns of its own code.
    expect(output.replaceAll(/\[WARN\] `Astro\.request\.headers`/g, '')).not.toContain('[WARN]');
  });
});
