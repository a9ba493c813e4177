import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { configWith, pageWith, temporarySite } from '../support/site/site.ts';

const links = '<a href="/prices?a=1#b">prices</a><img src="/a.png" srcset="/a.png 1x, /b.png 2x"> /prices';
const adapted =
  '<a href="/docs/prices/?a=1#b">prices</a><img src="/docs/a.png" srcset="/docs/a.png 1x, /docs/b.png 2x"> /prices';

const page = pageWith(`<html lang={Astro.currentLocale}><head><title><Snippet id={1} /></title></head>
<body><p id="plain"><Snippet id={1} /></p>
<p id="own"><Snippet id={1} params={{ locale: 'own', extra: '!' }} /></p>
<p id="near" lang="fr"><snippet-embed id="1"></snippet-embed></p>
<p id="alt"><img lang="it" alt={'<snippet-embed id="1"></snippet-embed>'}></p>
<div id="links"><Snippet id={2} /></div></body></html>`);

const { service, site } = await builtSite(
  { 1: '{{ locale }} {{ page }}{{ extra }}', 2: links },
  {
    'astro.config.mjs': configWith(`{ params, links: 'base' }`, {
      imports: 'const params = ({ page, lang }) => lang === undefined ? undefined : { locale: lang, page };',
      settings: `base: '/docs', trailingSlash: 'always', i18n: { locales: ['en', 'de'], defaultLocale: 'en' },`,
    }),
    'src/pages/index.astro': page,
    'src/pages/de/about.astro': page,
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<?xml version="1.0"?><feed xml:lang="de-AT"><entry>&lt;snippet-embed id="1">&lt;/snippet-embed></entry></feed>');`,
    'src/pages/data.json.ts': `export const GET = () => Response.json({ html: '<snippet-embed id="1"></snippet-embed>' });`,
  },
);

function expectPages(english: string, german: string) {
  for (const [html, locale, path] of [
    [english, 'en', '/docs/'],
    [german, 'de', '/docs/de/about/'],
  ] as const) {
    expect(html).toContain(`${locale} ${path}</title>`);
    expect(html).toContain(`<p id="plain">${locale} ${path}<`);
    expect(html).toContain(`<p id="own">own ${path}!<`);
    expect(html).toContain(`<p id="near" lang="fr">fr ${path}<`);
    expect(html).toContain(`alt="it ${path}"`);
  }
}

test("the site's params depend on the page and its language, and links are adapted", async () => {
  expectPages(await site.read('index.html'), await site.read('de/about/index.html'));
  expect(await site.read('feed.xml')).toContain('<entry>de-AT /docs/feed.xml</entry>');
  expect(JSON.parse(await site.read('data.json'))).toEqual({ html: ' ' });
  // <Snippet> announces requests while it renders, always with the params of its page.
  const asked = service.requests().filter(({ snippetId }) => snippetId === '1');
  expect(asked).toHaveLength(10);
  const { output: listed } = await site.run('list');
  expect(listed).toContain('Snippet 1 {"locale":"de","page":"/docs/de/about/"}\n    de/about/index.html\n');
  expect(listed).toContain('Snippet 1 {"extra":"!","locale":"own","page":"/docs/"}\n    index.html\n');

  // refresh-like-build.test.ts shows that a refresh passes the same.
  expect(await site.read('index.html')).toContain(`<div id="links">${adapted}</div>`);
});

test('a params function that throws, or does not return params, is an error that names the page', async () => {
  const other = await temporarySite({
    'astro.config.mjs': configWith(`{ params: ({ page }) => {
      if (page === '/throws/') throw new Error('no such page');
      if (page === '/text/') return 'text';
      if (page === '/promise/') return Promise.resolve({});
      if (page === '/date/') return { at: new Date() };
      if (page === '/key/') return { key: '${service.environment.SNIPPETS_API_KEY}' };
      return undefined;
    } }`),
    ...Object.fromEntries(
      ['throws', 'text', 'promise', 'date', 'key', 'fine'].map((name) => [
        `src/pages/${name}.astro`,
        '<p><snippet-embed id="2"></snippet-embed></p>',
      ]),
    ),
    'src/pages/lost.astro': pageWith('<code><Snippet id={1} /></code>'),
  });
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  const failed = (name: string, reason: string) =>
    `${name}/index.html:1\n    The option \`params\` failed for /${name}/: ${reason} [params-failed]`;
  expect(output).toContain(failed('throws', 'no such page'));
  expect(output).toContain(failed('text', 'params must be a plain object, not a string.'));
  expect(output).toContain(failed('promise', 'params must be a plain object, not a Promise.'));
  expect(output).toContain(failed('date', 'params.at is a Date: pass plain objects, arrays and values.'));
  expect(output).toContain(failed('key', 'params contains the API key. Its value is not shown on purpose.'));
  expect(output).toContain('Snippet 1 was rendered here, but is not in the output. [embed-lost]');
  expect(output).toContain('6 embeds are invalid.');
});
