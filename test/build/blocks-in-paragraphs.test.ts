import { expect, test } from 'vitest';
import { builtSite } from '../support/built-site.ts';
import { byAstro } from '../support/installation.ts';

const embed = (id: number, more = '') => `<snippet-embed id="${id}"${more}></snippet-embed>`;

const { output } = await builtSite(
  {
    1: '<p>One</p><p>Two</p>',
    2: '<b>words</b>',
    3: '<div>A block</div>',
    4: '{{ plan }}<ul><li>A list</li></ul>',
  },
  {
    'src/pages/first.md': `# First\n\nSee ${embed(1)} and ${embed(2)} here.\n\nAgain: ${embed(1)}\n`,
    'src/pages/second.md': `Once more ${embed(1)}\n`,
    'src/pages/params.astro': `<p>
Plan ${embed(4, ` params='{"plan":"pro"}'`)} or
${embed(4, ` params='{"plan":"free"}'`)}</p>`,
    // The content stands alone, or is shown as text.
    'src/pages/alone.md': `${embed(3)}\n\n<div>Text ${embed(3)}</div>\n\nText ${embed(3, ' as="text"')}\n`,
    'src/pages/title.astro': `<html><head><title>Text ${embed(3)}</title></head><body><p title={'${embed(3)}'}>Text {'${embed(3)}'}</p></body></html>`,
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<rss><item>&lt;p&gt;Text ${embed(3).replaceAll('<', '&lt;').replaceAll('>', '&gt;')}&lt;/p&gt;</item></rss>');`,
  },
);

test('a block in the middle of a paragraph is one warning for each snippet, with its page and line and what to do', () => {
  expect(output).toContain(
    '[WARN] [astro-snippets] first/index.html:2 and 2 more times: the content of snippet 1 is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into a paragraph of its own.',
  );
  expect(output.match(/content of snippet 1 is a block/g)).toHaveLength(1);
});

test('the same snippet with other params is no second warning', () => {
  // Astro 7 removes the line break behind <p>.
  const line = byAstro({ 5: 2, 6: 2, 7: 1 });
  expect(output).toContain(`params/index.html:${line} and 1 more time: the content of snippet 4 is a block`);
});

test('a block that stands alone, and what is shown as text or in a feed, is no warning', () => {
  expect(output.match(/is a block/g)).toHaveLength(2);
});
