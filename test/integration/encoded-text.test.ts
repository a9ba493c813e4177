import { parse as parseCsv } from 'csv-parse/sync';
import { escapeText } from 'entities/escape';
import fc from 'fast-check';
import { parseFragment } from 'parse5';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { builtSite } from '../support/site/built-site.ts';
import { collectionOf } from '../support/site/site.ts';

// The way that the message about an embed in a CSV or YAML file names: the text of a collection's entry, which the
// site's own code encodes.

const special = fc
  .array(fc.constantFrom(...'"\'<>&\\%#:,;\n =+?/a$`|]-@'), { minLength: 1, maxLength: 20 })
  .map((characters) => characters.join(''));
const texts = fc.sample(special, { numRuns: 60, seed: 46 });
/** Below, there are snippets that every service of a test has. */
const firstId = 1001;
const entries = texts.map((_, index) => `s${index}: { id: ${firstId + index} }`);

const { site } = await builtSite(
  Object.fromEntries(texts.map((text, index) => [firstId + index, `<b>${escapeText(text)}</b>`])),
  {
    'src/content.config.ts': collectionOf('snippets', `{ ${entries.join(', ')} }`),
    'src/pages/texts.csv.ts': `
    import { getCollection } from 'astro:content';
    const cell = (text: string) => '"' + text.replaceAll('"', '""') + '"';
    export const GET = async () => {
      const rows = (await getCollection('snippets')).map(({ id, data }) => id + ',' + cell(data.text));
      return new Response(['id,text', ...rows].join('\\n'));
    };`,
    'src/pages/texts.yaml.ts': `
    import { getCollection } from 'astro:content';
    import { stringify } from 'yaml';
    export const GET = async () => {
      const all = (await getCollection('snippets')).map(({ id, data }) => [id, data.text]);
      return new Response(stringify(Object.fromEntries(all)));
    };`,
  },
);

test('texts of snippets that the site writes into CSV and YAML are read back as browsers show them', async () => {
  const expected = texts.map((text) => {
    const [node] = parseFragment(escapeText(text)).childNodes;
    // White space is one space, as on a page.
    return node && 'value' in node ? node.value.replace(/\s+/g, ' ').trim() : '';
  });
  const rows: { id: string; text: string }[] = parseCsv(await site.read('texts.csv'), { columns: true });
  expect(new Map(rows.map(({ id, text }) => [id, text]))).toEqual(
    new Map(expected.map((text, index) => [`s${index}`, text])),
  );
  expect(parseYaml(await site.read('texts.yaml'))).toEqual(
    Object.fromEntries(expected.map((text, index) => [`s${index}`, text])),
  );
});
