import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileSite, sharedService } from '../support/site/built-site.ts';
import { byAstro, isFirstOfMajor } from '../support/site/installation.ts';
import { mdxFeed } from '../support/site/mdx-feed.ts';
import { configWith, temporarySite } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const service = await sharedService({
  1: '<b>one</b>',
  2: '<b>two</b>',
  3: '<b>three</b>',
  4: '<b>four</b>',
  5: 'an embed, <snippet-embed id="6"></snippet-embed>, in a content',
});

const component = `import { Snippet } from 'astro-snippets/components';`;
const page = (body: string, more = '') => `---
${component}
${more}
const isLost = process.env.LOSE !== undefined;
---
<html><body>${body}</body></html>`;

// The first versions cannot render a path with a percent sign.
const tag = isFirstOfMajor ? '100' : '100%';
const tags = byAstro({ 5: isFirstOfMajor ? [tag] : [tag, '100%25'], 6: [tag], 7: [tag] });

describe('a snippet that is rendered', async () => {
  const site = await fileSite({
    'astro.config.mjs': configWith('', {
      imports: `import mdx from '@astrojs/mdx';\nimport node from '@astrojs/node';`,
      settings: `adapter: node({ mode: 'standalone' }),`,
      integrations: 'mdx(), ',
    }),
    'src/Island.astro': '<aside><slot /></aside>',
    'src/Offer.astro': `---\n${component}\n---\n<Snippet id={2} />`,
    'src/Discards.astro': '<p>Nothing.</p>',
    'src/Excerpt.astro': "<p>{(await Astro.slots.render('default')).replace(/<.*?>/g, '')}</p>",
    // Snippet 1 is elsewhere on this page. Each of the others is lost on its page.
    'src/pages/index.astro': page(
      '<Snippet id={1} /><Snippet id={2} /><Snippet id={3} />{process.env.STRIP && <Snippet id={4} />}',
    ),
    'src/pages/island.astro': page(
      '<Snippet id={1} />{isLost && <Island server:defer><Offer /></Island>}',
      `import Island from '../Island.astro';\nimport Offer from '../Offer.astro';`,
    ),
    'src/pages/excerpt.astro': page(
      '<Excerpt><Snippet id={1} /></Excerpt><footer><Snippet id={1} /></footer>',
      `import Excerpt from '../Excerpt.astro';`,
    ),
    'src/pages/code.astro': page('{isLost && <pre><code><Snippet id={3} /></code></pre>}'),
    'src/pages/discarded.astro': page(
      '<Discards><Snippet id={1} /></Discards>',
      `import Discards from '../Discards.astro';`,
    ),
    'src/pages/tags/[tag].astro': page(
      '<Snippet id={1} />{isLost && <pre><Snippet id={3} /></pre>}',
      // Astro 6 and later do not render a path that decodes to another one.
      `export const getStaticPaths = () => ${JSON.stringify(tags)}.map((tag) => ({ params: { tag } }));`,
    ),
    ...mdxFeed,
    'src/pages/rss.xml.js': `
        import { feed, renderPost } from '../feed.js';
        export async function GET() {
          if (process.env.LOSE || process.env.STRIP) return feed((html) => html.replace(/<.*?>/g, ''));
          if (process.env.RAW) return new Response('<?xml version="1.0"?><rss><item>' + (await renderPost()) + '</item></rss>');
          return feed();
        }`,
    'src/pages/waiting.astro': `---
import { existsSync } from 'node:fs';
for (let turn = 0; process.env.SNIPPETS_API_KEY && turn < 3_000 && !existsSync('asked'); turn++) await new Promise((resolve) => setTimeout(resolve, 10));
---
<html><body>{existsSync('asked') ? 'A snippet was asked for.' : 'Nothing was asked for.'}</body></html>`,
  });

  const both = 'SNIPPETS_API_KEY is not set. No base URL of the service is set.';
  const hint = 'Set SNIPPETS_API_KEY in the environment, or in a .env file';

  test('needs a key and a URL, which are reported together, once, with the pages that need them', async () => {
    const output = await exits(1, site.build());
    expect(output.split(both)).toHaveLength(2);
    expect(output).toMatch(/is set\. Needed for .*index\.html and \d+ more places\./);
    expect(output.split(hint)).toHaveLength(2);
  });

  test('is fetched while pages still render, even in the first build, and inlined everywhere', async () => {
    const held = service.hold();
    const building = site.build(service.environment);
    await held.asked();
    await writeFile(join(site.directory, 'asked'), '');
    held.release();
    const output = await exits(0, building);
    expect(output).toContain(
      '[WARN] [astro-snippets] excerpt/index.html: snippet 1 was rendered 2 times, but is in the output only once. What is made of text without tags, such as an excerpt, has no snippets. It is written in src/pages/excerpt.astro:',
    );
    expect(output.match(/was rendered/g)).toHaveLength(1);
    expect(await site.read('client/waiting/index.html')).toContain('A snippet was asked for.');
    for (const name of tags) {
      expect(await site.read(`client/tags/${name}/index.html`)).toContain('<b>one</b>');
    }
    expect(await site.read('client/rss.xml')).toContain('Now &lt;b&gt;four&lt;/b&gt; only.');
  });

  test("is a warning if Astro's container rendered it and only other pages show it", async () => {
    const output = await site.builds({ ...service.environment, STRIP: '1' });
    expect(output).toContain(
      "[WARN] [astro-snippets] a page of Astro's container: snippet 4 was rendered 2 times, but is in the output only once.",
    );
  });

  test('fails the build if it is not in the output: its page is named and removed', async () => {
    const output = await exits(1, site.build({ ...service.environment, LOSE: '1' }));
    expect(output).toContain(`${3 + tags.length} embeds are invalid.`);
    for (const [place, id] of [
      ['/island/', 2],
      ['/code/', 3],
      [`/tags/${tag}/`, 3],
      ["a page of Astro's container", 4],
    ]) {
      expect(output).toContain(
        `${place}\n    Snippet ${id} was rendered here, but is not in the output. [embed-lost]`,
      );
    }
    expect(output).toContain('Sanitizers have to let `snippet-embed` through');
    expect(output).not.toContain('/discarded/\n');
    const pages = (await site.list('dist/client')).filter((name) => name.endsWith('.html'));
    expect(pages).toEqual(['discarded/index.html', 'waiting/index.html']);
  });

  test('is not reported as lost if it is an element of XML', async () => {
    const output = await site.builds({ ...service.environment, RAW: '1' });
    expect(output).toContain('an embed is an element of XML, so it shows text.');
    expect(output).not.toContain('embed-lost');
  });
});

test('<Snippet> without the integration in the Astro config fails the build, and names the page', async () => {
  const site = await temporarySite({
    'astro.config.mjs': 'export default {};',
    'src/pages/offer.astro': page('<Snippet id={1} />'),
  });
  const output = await exits(1, site.build(service.environment));
  expect(output).toContain('<Snippet> of snippet 1 on /offer/: the integration is not in the Astro config.');
  expect(output).toContain('Add snippets() to the integrations of the Astro config.');
});

test('an embed or the key that another integration writes after inlining fails the build', async () => {
  const embed = `<p><snippet-embed id="1"></snippet-embed></p>`;
  const site = await temporarySite({
    'astro.config.mjs': `
import { appendFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const late = { name: 'late', hooks: {
  'astro:build:generated'({ dir }) {
    if (!process.env.EMBEDS) return;
    writeFileSync(new URL('feed.xml', dir), '<rss><item>${embed.replaceAll('<', '&lt;')}</item></rss>');
  },
  'astro:build:done'({ dir }) {
    writeFileSync(new URL('plain.html', dir), '<pre>${embed}</pre>');
    appendFileSync(new URL('index.html', dir), '<!-- minified -->');
    if (process.env.LEAK) writeFileSync(new URL('key.js', dir), process.env.SNIPPETS_API_KEY);
    if (!process.env.EMBEDS) return;
    writeFileSync(new URL('late.html', dir), '${embed}');
    appendFileSync(new URL('index.html', dir), '${embed}');
  },
} };
const adder = { name: 'adder', hooks: { 'astro:config:setup': ({ updateConfig }) => updateConfig({ integrations: [late] }) } };
export default defineConfig({ integrations: [snippets(), adder] });`,
    'src/pages/index.astro': page('<Snippet id={1} /><Snippet id={5} />'),
  });
  await site.builds(service.environment);

  const embeds = await site.build({ ...service.environment, EMBEDS: '1' });
  expect(embeds.exitCode).not.toBe(0);
  expect(embeds.output).toContain(
    '[astro-snippets/late-embed] Another integration wrote an embed into feed.xml, index.html, late.html after snippets were inlined.',
  );
  const records = await site.list('node_modules/.astro/astro-snippets');
  expect(records.filter((name) => /^manifest\.(json|.*pack)$/.test(name))).toEqual([]);

  const key = await site.build({ ...service.environment, LEAK: '1' });
  expect(key.exitCode).not.toBe(0);
  expect(key.output).toContain('Another integration wrote the API key into key.js.');
  expect(key.output).not.toContain(service.environment.SNIPPETS_API_KEY);
});

test('what is written after inlining is known by its file, whatever the clock of the process or a tool says', async () => {
  const site = await temporarySite({
    'late.mjs': `
import { appendFileSync, utimesSync, writeFileSync } from 'node:fs';
const write = (name, text) => (writeFileSync('dist/' + name, text), utimesSync('dist/' + name, 1, 1));
export const late = { name: 'late', hooks: { 'astro:build:done'() {
  if (process.env.LATE === 'embed') write('late.html', '<p><snippet-embed id="1"></snippet-embed></p>');
  if (process.env.LATE === 'key') write('key.js', process.env.SNIPPETS_API_KEY);
  write('index.html', '<p><b>one</b> minified</p>');
} } };
const now = Date.now;
Date.now = () => now() + 10_000;`,
    'astro.config.mjs': configWith('', {
      imports: `import { late } from './late.mjs';`,
      integrations: 'late, ',
    }),
    'src/pages/index.astro': page('<Snippet id={1} />'),
    'src/pages/about.astro': page('<Snippet id={2} />'),
  });
  // In a process of its own, as the clock stays wrong.
  const build = (LATE: string) => site.start(['build'], { ...service.environment, LATE }).ended;
  expect(await exits(1, build('embed'))).toContain('an embed into late.html after snippets were inlined');
  expect(await exits(1, build('key'))).toContain('the API key into key.js');
  expect(await exits(0, build('page'))).toContain('late changed index.html after snippets were inlined');
});

const write = `writeFileSync('dist/late.html', '<p><snippet-embed id="1"></snippet-embed></p>')`;
const hooks = (name: string) =>
  `integrations: [snippets(), { name: 'late', hooks: { '${name}'() { ${write} } } }]`;
const plugin = `{ name: 'late', enforce: 'post', buildApp: { order: 'post', handler() { ${write} } } }`;
const setup = `{ 'astro:build:setup': ({ updateConfig }) => updateConfig({ plugins: [${plugin}] }) }`;
const adapter = `{ ...node({ mode: 'standalone' }), hooks: { ...node({ mode: 'standalone' }).hooks, 'astro:build:done'() { ${write.replace('dist/', 'dist/client/')} } } }`;

// Without one of these, nothing is read again after snippets were inlined.
describe('what may write to the output after snippets were inlined is checked:', () => {
  test.for([
    { writer: 'another integration, when pages are generated', config: hooks('astro:build:generated') },
    { writer: 'another integration, when the build is done', config: hooks('astro:build:done') },
    { writer: 'an adapter', config: `integrations: [snippets()], adapter: ${adapter}` },
    // Astro 5 builds without these.
    ...(byAstro({ 5: [], 6: [setup], 7: [setup] }) as string[]).map((hooks) => {
      return {
        writer: 'a plugin of Vite',
        config: `integrations: [snippets(), { name: 'late', hooks: ${hooks} }]`,
      };
    }),
  ])('$writer', async ({ config }) => {
    const site = await temporarySite({
      'astro.config.mjs': `
import { writeFileSync } from 'node:fs';
import node from '@astrojs/node';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ ${config} });`,
      'src/pages/index.astro': page('<Snippet id={1} />', 'export const prerender = true;'),
    });
    const output = await exits(1, site.build(service.environment));
    expect(output).toContain('[astro-snippets/late-embed] Another integration wrote an embed into');
    expect(output).toContain('late.html');
  });

  test('a compressed copy that was there before', async () => {
    const site = await temporarySite({
      'astro.config.mjs': configWith(''),
      'public/index.html.gz': 'of an earlier page',
      'src/pages/index.astro': page('<Snippet id={1} />'),
    });
    const output = await exits(1, site.build(service.environment));
    expect(output).toContain('[astro-snippets/stale-compressed-file] index.html.gz does not decompress');
  });
});
