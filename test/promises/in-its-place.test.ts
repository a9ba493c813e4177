import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { describe, expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';

// What was published wrong, or refused with an untrue sentence, on sites of public reports. Each place holds what is put
// into it: read back by parsers that are not ours.

const embed = (id: number) => `<snippet-embed id='${id}'></snippet-embed>`;
const endpoint = (body: string) => `export const GET = () => new Response(${JSON.stringify(body)});`;
const json = (id: number) => JSON.stringify({ title: embed(id) });

const contents = {
  1: 'Say "hi", now',
  2: 'Salt &amp; Pepper 100%',
  3: '<div>An <b>offer</b></div>',
  4: '<a href="/more">More</a>',
  5: '<strong>free from 25 €. <a href="/pricing/">More',
  6: 'Ünï &copy; "quoted"',
  7: '<p>prices</p>',
  8: 'Tom &amp; &lt;Jerry&gt;',
};

describe('what a place shows', async () => {
  const { site, output } = await builtSite(contents, {
    'astro.config.mjs': configWith('', { settings: `site: 'https://site.test',` }),
    'src/pages/props.astro': `<i here data-props={encodeURIComponent(JSON.stringify({ title: "${embed(1)}" }))}></i>`,
    'src/pages/share.astro': `<a here href={"https://share.test/?text=${embed(2)}&u=1"}>Share</a>`,
    'src/pages/template.astro': `<script here is:inline type="text/x-template"><section>${embed(3)}</section></script>`,
    'src/pages/ld.astro': `<script here is:inline type="application/ld+json; charset=utf-8" set:html={\`${json(1)}\`}></script>`,
    'src/pages/svg.astro': `<svg><text here>${embed(3)}</text></svg>`,
    'src/pages/offer.astro': `<p here id="offer" class="lead">${embed(3)}</p>`,
    'src/pages/nested.astro': `<a href="/x">${embed(4)}</a>`,
    'src/pages/open.astro': `<div>${embed(5)}</div><p>after</p>`,
    'src/pages/feed.xml.ts': endpoint(
      `<rss><channel><title>${embed(8)}</title><item><title>${embed(8)}</title></item></channel></rss>`,
    ),
    'src/pages/atom.xml.ts': endpoint(
      `<feed><entry><title type="html">&lt;snippet-embed id="8"&gt;&lt;/snippet-embed&gt;</title></entry></feed>`,
    ),
    'src/pages/news.md': `# News\n\nBefore ${embed(7)} after.`,
    'src/pages/news.xml.ts': endpoint(
      `<rss><channel><item><link>https://site.test/news/</link><description>Before  after.</description></item></channel></rss>`,
    ),
    'src/pages/llms.txt.ts': endpoint(`Pages say <meta charset="iso-8859-1">. ${embed(6)}`),
  });

  const attribute = async (page: string, name: string) => {
    const html = await site.read(`${page}/index.html`);
    const stack: DefaultTreeAdapterMap['node'][] = [parse(html)];
    for (let node = stack.pop(); node; node = stack.pop()) {
      if ('attrs' in node && node.attrs.some((attr) => attr.name === 'here')) {
        return node.attrs.find((attr) => attr.name === name)?.value ?? '';
      }
      if ('childNodes' in node) stack.push(...node.childNodes);
    }
    throw new Error(`Nothing is here: ${html}`);
  };
  const warnings = output
    .split('\n')
    .filter((line) => line.includes('[WARN]'))
    .join('\n');

  test('JSON that is percent-encoded in an attribute is scanned as JSON', async () => {
    expect(JSON.parse(decodeURIComponent(await attribute('props', 'data-props')))).toEqual({
      title: 'Say "hi", now',
    });
  });

  test('an embed inside a longer URL is percent-encoded text', async () => {
    const { searchParams } = new URL(await attribute('share', 'href'));
    expect(Object.fromEntries(searchParams)).toEqual({ text: 'Salt & Pepper 100%', u: '1' });
  });

  test('a template in a script, and JSON with a charset in its type', async () => {
    expect(await site.read('template/index.html')).toContain(
      '<section><div>An <b>offer</b></div></section></script>',
    );
    const [, script = ''] = /<script[^>]*>(.*)<\/script>/.exec(await site.read('ld/index.html')) ?? [];
    expect(JSON.parse(script)).toEqual({ title: 'Say "hi", now' });
  });

  test('SVG shows text, and a paragraph around a block keeps its attributes', async () => {
    expect(await site.read('svg/index.html')).toContain('>An offer</text>');
    expect([await attribute('offer', 'id'), await attribute('offer', 'class')]).toEqual(['offer', 'lead']);
  });

  test('a link in a link, and formatting that is left open, are warned of', () => {
    expect(warnings).toMatch(/nested\/index\.html.*<a>|<a>.*nested\/index\.html/s);
    expect(warnings).toMatch(/Snippet 5.* leaves <(?:strong|a)>/);
  });

  test('titles of feeds are escaped as often as their type says', async () => {
    expect(await site.read('feed.xml')).toContain('<item><title>Tom &amp; &lt;Jerry&gt;</title></item>');
    expect(await site.read('atom.xml')).toContain('Tom &amp;amp; &amp;lt;Jerry&amp;gt;</title>');
  });

  test('a feed that lost the snippet of its page is warned of', () => {
    expect(warnings).toMatch(/news\.xml/);
  });

  test('text that mentions a charset is in UTF-8', async () => {
    expect(await site.read('llms.txt')).toContain('Ünï &copy; "quoted"');
  });
});

describe('what a place refuses', async () => {
  const folded =
    'BEGIN:VEVENT\r\nSUMMARY:x\r\nDESCRIPTION:<snippet-emb\r\n ed id="1"></snippet-emb\r\n ed>\r\nEND:VEVENT\r\n';
  const { output } = await builtSite(
    contents,
    {
      'src/pages/data.yaml.ts': endpoint(`title: ${embed(1)} # daily`),
      'src/pages/rows.csv.ts': endpoint(`id,title\n1,"${embed(1)}"`),
      'src/pages/days.ics.ts': endpoint(folded),
      'src/pages/code.astro': `<button hx-on:click="say('${embed(1).replaceAll("'", '&quot;')}')">x</button>`,
      'src/pages/alpine.astro': `<i x-text={"${embed(1)}"}></i>`,
      'src/pages/values.astro': `<i hx-vals={"js:{ a: ${embed(1)} }"}></i>`,
      'src/pages/slot.astro': `<my-card><snippet-embed id="1" class="lead"></snippet-embed></my-card>`,
    },
    1,
  );

  test.for([
    ['data.yaml', 'embed-in-format'],
    ['rows.csv', 'embed-in-format'],
    ['days.ics', 'embed-in-format'],
    ['code/index.html', 'embed-in-attribute'],
    ['alpine/index.html', 'embed-in-attribute'],
    ['values/index.html', 'embed-in-attribute'],
    ['src/pages/slot.astro', 'unknown-attribute'],
  ])('%s: %s', ([place = '', code = '']) => {
    const report = output.slice(output.indexOf('[ERROR]'));
    const [about = ''] = report.split('\n\n').filter((part) => part.includes(place));
    expect(about, report).toContain(`[${code}]`);
  });
});
