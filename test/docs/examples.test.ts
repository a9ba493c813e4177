import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blockFlaws, typedLanguages } from './examples.ts';
import { type CodeBlock, codeBlocks, pages } from './pages.ts';

const root = join(import.meta.dirname, '../..');

test.each(pages)('each code block in %s that is not type-checked is correct', async (page) => {
  const untyped = codeBlocks(page).filter(({ language }) => !typedLanguages.has(language));
  const flaws = await Promise.all(untyped.map(blockFlaws));
  expect(flaws.flat()).toEqual([]);
});

const block = (language: string, code: string): CodeBlock => ({
  page: 'page.md',
  line: 1,
  language,
  code,
  generated: false,
});

test.each([
  ['a language without a rule', 'cobol', 'MOVE 1 TO A.', 'nothing checks the language "cobol"'],
  ['output that is written by hand', 'text', '1 snippet found', 'written by hand'],
  ['a quote that is not closed', 'sh', `echo 'a`, 'A quote is not closed'],
  ['an unknown package', 'sh', 'npx astro-snipets check', 'npx astro-snipets: unknown'],
  ['an unknown flag', 'sh', 'A=1 npx astro-snippets check --exe x', "unknown option '--exe'"],
  ['a flaw inside --exec', 'sh', `npx astro-snippets check --exec 'npm run nothing'`, 'nothing: unknown'],
  ['params that are not JSON', 'sh', `npx astro-snippets get 1 --params '{a}'`, 'JSON'],
  ['a flaw in a workflow', 'yaml', 'steps:\n  - run: npx astro-snippets chek\n', "unknown command 'chek'"],
  ['YAML that is not closed', 'yaml', 'a: [', 'Flow sequence'],
  ['JSON with a comma too many', 'json', '{"a":1,}', 'JSON'],
  ['an element without its end', 'html', '<p><snippet-embed id="1"></p>', 'not closed'],
  ['params that are not an object', 'md', `<snippet-embed id="1" params='[1]'></snippet-embed>`, 'params'],
  ['MDX that is not closed', 'mdx', '<Snippet id={42}>', 'closing tag'],
  ['Vue that is not closed', 'vue', '<template><p></template>', 'end tag'],
  ['Svelte that is not closed', 'svelte', '<p {', 'attribute_empty_shorthand'],
  ['a variable that does not exist', 'dotenv', 'SNIPPETS_KEY=1', 'SNIPPETS_KEY'],
  ['an unknown service command', 'ini', '[Service]\nExecStart=/usr/bin/npx astro-snippets look', 'look'],
  ['a directive without its semicolon', 'nginx', 'location / {\n  proxy_pass http://a\n}\n', 'not a block'],
])('in the docs, %s is found', async (_, language, code, flaw) => {
  expect((await blockFlaws(block(language, code))).join('\n')).toContain(flaw);
});

test.each(['ci', 'release'])('the workflow %s runs scripts that exist', async (name) => {
  const code = readFileSync(join(root, `.github/workflows/${name}.yml`), 'utf8');
  expect(code).toContain('- run: npm ci\n');
  expect(await blockFlaws(block('yaml', code))).toEqual([]);
});

test('the README has the commands that CI runs', () => {
  const commands = codeBlocks('README.md').map(({ code }) => code.trim());
  expect(commands).toEqual(expect.arrayContaining(['npm ci && npm run playground', 'npm ci && npm test']));
});
