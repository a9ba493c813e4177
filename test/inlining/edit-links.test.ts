import { describe, expect, test } from 'vitest';
import { hashSource } from '../../src/content/hash-source.ts';
import { panelScript } from '../../src/inlining/edit-links/edit-links.ts';
import { parseOptions } from '../../src/settings/parse-options.ts';
import { builtSite } from '../support/site/built-site.ts';
import { configWithPolicy, headersFile, lacksPolicy, staticHeaders } from '../support/site/policy.ts';
import { configWith, pageWith, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';

const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;

test('editLinks needs editUrl', () => {
  expect(() => parseOptions({ editLinks: true })).toThrow('editLinks needs editUrl');
  expect(parseOptions({ editLinks: true, editUrl: (id: string) => `/${id}` }).editLinks).toBe(true);
  expect(parseOptions({}).editLinks).toBe(false);
});

describe('a site with edit links', async () => {
  const csp = `http-equiv="content-security-policy" content="default-src 'none'"`;
  const { service, site, output } = await builtSite(
    { 1: 'one', 2: '<p>two</p>', 4: '<b>four</b><!-- open', 5: '<b>five' },
    {
      'astro.config.mjs': configWith(`{ editUrl: (id) => 'https://edit.example/' + id, editLinks: true }`),
      'src/pages/index.astro':
        pageWith(`<html lang="en"><head><meta ${csp}><title>{<Snippet id={1} />} page</title></head><body>
<p id="text">Says <Snippet id={1} />.</p><div id="html"><Snippet id={2} /></div>
<Snippet id={3} optional>no banner</Snippet><aside><Snippet id={5} /></aside><footer><Snippet id={4} /></footer></body></html>`),
      'src/pages/plain.astro': '<html lang="en"><head><title>Plain</title></head><body>Plain</body></html>',
      'src/pages/feed.xml.ts': `export const GET = () => new Response('<?xml version="1.0"?><feed><entry>&lt;snippet-embed id="2">&lt;/snippet-embed></entry></feed>');`,
      'src/pages/markdown.md': `Before\n\n${embed(2)}\n\nAfter ${embed(1)}`,
      'public/places.html': `<head><!--</head>--><script>"</head>"</script><title>${embed(1)}</head></title>
<meta name="ü" content='${embed(1)}'></head><body><p>${embed(1)}</p><table>${embed(1)}</table>
<select><option>${embed(1)}</option></select><svg><g>${embed(1)}</g></svg><h1>${embed(1).replaceAll('<', '&lt;')}</h1>
<p>a <snippet-embed id="1" as="text"></snippet-embed></p><textarea>${embed(1)}</textarea><img alt='${embed(1)}'><img alt='${embed(1)}'>
<iframe srcdoc='${embed(1)}'></iframe><script type="application/json">["<snippet-embed id='1' />"]</script></body>`,
      'public/headless.html': `<html lang="en"><body>${embed(1)}</body></html>`,
      'public/open.html': `<head><title>t</title><body>${embed(1)}`,
      'public/part.html': `<p>a ${embed(1)}</p>`,
    },
  );

  /** A page with its script replaced by `…`, and the data that the script reads. */
  async function linked(name: string): Promise<{ page: string; data: unknown }> {
    const page = await site.read(name);
    const [script = '', data = ''] =
      /<script type="application\/json" id="snippet-edit-links">(.*?)<\/script><script[\s\S]*?<\/script>/.exec(
        page,
      ) ?? [];
    // `</script>` would end the script.
    expect(data).not.toContain('<');
    return { page: page.replace(script, '…'), data: JSON.parse(data) };
  }

  test('marks places where a comment can be, and names the others, each once', async () => {
    const { page, data } = await linked('places.html');
    expect(page.match(/<!--snippet 1-->one<!--\/snippet 1-->/g)).toHaveLength(6);
    expect(page.match(/<!--snippet 1-->/g)).toHaveLength(6);
    const unmarked = [
      '<title>',
      'content of <meta name="ü">',
      '<textarea>',
      'alt of <img>',
      'srcdoc of <iframe>',
      '<script>',
    ];
    expect(data).toMatchObject([{ id: 1, url: 'https://edit.example/1', unmarked }]);
  });

  test('has its script at the end of the head, before the body, or at the end of a page without either', async () => {
    expect((await linked('places.html')).page).toContain(`<meta name="ü" content='one'>…</head><body>`);
    expect((await linked('headless.html')).page).toContain('<html lang="en">…<body>');
    expect((await linked('open.html')).page).toContain('<title>t</title>…<body>');
    expect((await linked('markdown/index.html')).page).toMatch(/After .*<\/p>\s*…\s*$/);
    expect(await site.read('part.html')).not.toMatch(/<script|<!--snippet/);
  });

  test('marks snippets on its pages', async () => {
    expect(output).toContain('edit links on 5 pages');
    expect(output).toContain('Edit links are on (editLinks: true)');
    const page = await site.read('index.html');
    for (const marked of [
      '<title>one page</title>',
      '<p id="text">Says <!--snippet 1-->one<!--/snippet 1-->.</p>',
      '<div id="html"><!--snippet 2--><p>two</p><!--/snippet 2--></div>',
      'no banner',
      // An open <b> takes up the second mark, which is found there.
      '<aside><!--snippet 5--><b>five<!--/snippet 5--></aside>',
      // An open comment would swallow the second mark.
      '<footer><b>four</b><!-- open</footer>',
      `script-src ${hashSource(panelScript())}`,
    ]) {
      expect(page).toContain(marked);
    }
    expect(page).not.toContain('<!--snippet 3-->');
    expect(page.split('id="snippet-edit-links"')).toHaveLength(2);
    expect(await site.read('markdown/index.html')).toContain('<!--snippet 2--><p>two</p><!--/snippet 2-->');
  });

  test('fails to build, with no page left, if editUrl is not a URL for a snippet', async () => {
    await site.write({
      'astro.config.mjs': configWith(
        `{ editLinks: true, editUrl: (id) => id === '2' ? 'javascript:2' : '/' + id }`,
      ),
    });
    const { exitCode, output } = await site.build();
    expect(exitCode).toBe(1);
    expect(output).toContain('The function editUrl returned "javascript:2" for snippet 2');
    expect(await site.list()).not.toContain('index.html');
  });

  test("has the names of snippets, and the script's hash in its headers if its policy is there", async ({
    skip,
  }) => {
    skip(lacksPolicy !== undefined, lacksPolicy);
    const other = await temporarySite({
      'astro.config.mjs': configWithPolicy(
        `{ editUrl: (id) => '/' + id, editLinks: true }`,
        `adapter: node({ mode: 'standalone', ${staticHeaders} })`,
      ),
      'src/pages/index.astro': `<html lang="en"><head><title>Home</title></head><body>${embed(1)}</body></html>`,
      'src/pages/plain.astro': '<html lang="en"><head><title>Plain</title></head><body>Plain</body></html>',
    });
    // Only variant A sends names.
    const { SNIPPETS_RENDER_BASE_URL: _, ...retrieving } = service.environment;
    service.put(1, 'one', 'The offer');
    await other.builds(retrieving);
    const named = '[{"id":1,"url":"/1","name":"The offer","unmarked":[]}]';
    expect(await other.read('client/index.html')).toContain(named);
    const routes: { pathname: string; headers: { value: string }[] }[] = JSON.parse(
      await other.read(headersFile),
    );
    const policies = Object.fromEntries(routes.map((route) => [route.pathname, route.headers[0]?.value]));
    expect(policies['/']).toContain(hashSource(panelScript()));
    expect(policies['/plain']).toContain('script-src');
    expect(policies['/plain']).not.toContain(hashSource(panelScript()));
    service.put(1, 'changed', 'The offer');
    expect(await cli(other.directory, ['refresh'], retrieving)).toMatchObject({ exitCode: 0 });
    const refreshed = await other.read('client/index.html');
    for (const part of ['<!--snippet 1-->changed<!--/snippet 1-->', named]) expect(refreshed).toContain(part);

    // A new name alone is a change, as pages show it. Variant B sends no name, so the last one stays.
    const { snippets } = service.store;
    snippets.save(service.organizationId, 1, { name: 'The banner', draft: 'changed', sample: '{}' });
    snippets.publish(service.organizationId, 1);
    const { exitCode, output: changes } = await cli(other.directory, ['check'], retrieving);
    expect([exitCode, changes]).toEqual([
      10,
      'Snippet 1 (The banner) has the same content, but another name\n    index.html\n',
    ]);
    expect(await cli(other.directory, ['refresh'], retrieving)).toMatchObject({ exitCode: 0 });
    const renamed = named.replace('The offer', 'The banner');
    expect(await other.read('client/index.html')).toContain(renamed);
    service.put(1, 'changed again');
    expect(await cli(other.directory, ['refresh'], service.environment)).toMatchObject({ exitCode: 0 });
    expect(await other.read('client/index.html')).toContain(renamed);
    expect(await cli(other.directory, ['check'], service.environment)).toMatchObject({ exitCode: 0 });
  });
});
