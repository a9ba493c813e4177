import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { collectionOf, configWith, pageWith, temporarySite } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const children = configWith(`{ missingKey: 'children' }`);

const { service, site } = await builtSite(
  { 1: '<b>one</b>', 2: 'two' },
  {
    'astro.config.mjs': children,
    'src/pages/index.astro':
      pageWith(`<html><head><title><snippet-embed id="2">a <b>title</b></snippet-embed></title></head>
<body><p><Snippet id={1}><i>children</i></Snippet></p><p id="none"><Snippet id={2} /></p></body></html>`),
  },
);
const withoutKey = { ...service.environment, SNIPPETS_API_KEY: '' };
const withoutAnything = { ...withoutKey, SNIPPETS_RENDER_BASE_URL: '', SNIPPETS_RETRIEVE_BASE_URL: '' };
const manifest = 'astro-snippets/manifest.json';

test("without a key and with missingKey: 'children', a build shows children, warns once, and leaves no record", async () => {
  expect(await site.list('node_modules/.astro')).toContain(manifest);
  const before = service.requests().length;
  const output = await site.builds(withoutAnything);
  const home = await site.read('index.html');
  expect(home).toContain('<title>a title</title>');
  expect(home).toContain('<p><i>children</i></p><p id="none"></p>');
  expect(output.match(/\[WARN\]/g)).toHaveLength(1);
  expect(output).toContain(
    '[WARN] [astro-snippets] SNIPPETS_API_KEY is not set: it is empty, which also hides one in a .env file, so embeds show their children',
  );
  expect(output).toContain('2 snippets in 3 embeds on 1 page · children are shown, without an API key · ');
  expect(await site.list('node_modules/.astro')).not.toContain(manifest);
  expect(service.requests()).toHaveLength(before);
  for (const command of ['check', 'refresh']) {
    expect(await exits(3, site.run(command))).toContain(
      'The last build shows children instead of snippets. There is no record at',
    );
  }
});

test("with missingKey: 'children', an invalid embed and a wrong key still fail the build", async () => {
  const unknown = await exits(
    1,
    site.build({ ...service.environment, SNIPPETS_API_KEY: 'sk_unknown_0123456789' }),
  );
  expect(unknown).toContain('[unauthorized]');
  await site.write({ 'src/pages/invalid.astro': '<p><snippet-embed id="x">a</snippet-embed></p>' });
  const invalid = await site.build(withoutKey);
  expect(invalid.exitCode).toBe(1);
  expect(invalid.output).toContain('[invalid-id]');
});

test('without a key, a site with snippets only in a collection has no record either', async () => {
  const other = await temporarySite({
    'astro.config.mjs': children,
    'src/content.config.ts': collectionOf('texts', '{ banner: { id: 3 } }'),
    'src/pages/index.astro': '<p>plain</p>',
    'src/pages/entry.json.ts': `import { getEntry } from 'astro:content';
export const GET = async () => Response.json((await getEntry('texts', 'banner')).data);`,
  });
  const output = await other.builds(withoutKey);
  expect(output).toContain('a .env file, so embeds show their children');
  // It was not fetched, so it has no variant.
  expect(JSON.parse(await other.read('entry.json'))).toEqual({ content: '', text: '' });
  expect(await other.list('node_modules/.astro')).not.toContain(manifest);
});

test("with missingKey: 'children', a site without embeds is built without a warning", async () => {
  const other = await temporarySite({
    'astro.config.mjs': children,
    'src/pages/index.astro': '<p>plain</p>',
  });
  const output = await other.builds(withoutAnything);
  expect(output).not.toContain('[WARN]');
});
