import { join } from 'node:path';
import markdownIt from 'markdown-it';
import { expect, test } from 'vitest';
import { appendStepSummary, describeCheck } from '../../src/cli/step-summary.ts';
import { textOf } from '../../src/embed/html-scanner.ts';
import { elementsOf } from '../../src/html/parsed-html.ts';
import { testContext } from '../support/cli.ts';
import { folderWith } from '../support/folder.ts';

const changedOn = (...pages: string[]) => ({
  id: 42,
  params: '{"plan":"<b>pro</b> | x"}',
  newHash: 'x',
  pages: pages.map((file) => ({ file, url: `/${file}` })),
  collections: [{ collection: 'legal', entry: 'imprint' }],
});

/** What a reader sees of a summary, with the names of its elements. */
function rendered(markdown: string): { elements: string[]; text: string } {
  const html = markdownIt({ html: true, linkify: true }).render(markdown);
  const elements = [...elementsOf(html)].map(({ tagName }) => tagName);
  return { elements: [...new Set(elements)], text: textOf(html) };
}

test('a summary names what has changed, where it is shown, and what is unfinished', () => {
  const summary = describeCheck({
    compared: 3,
    changed: [changedOn('index.html', 'pricing/index.html')],
    unfinished: [{ name: 'a.html', reason: 'was not written to all its copies' }],
  });
  const { elements, text } = rendered(summary);
  expect(elements).toEqual(['h3', 'table', 'thead', 'tr', 'th', 'tbody', 'td', 'br']);
  expect(text).toContain('Snippet 42 {"plan":"<b>pro</b> | x"} has changed index.html pricing/index.html');
  expect(text).toContain('a.html was not written to all its copies');
});

test.each([
  '<img src=x onerror=alert(1)>.html',
  '](https://evil.test) [x](javascript:alert(1)).html',
  '![x](https://evil.test/x.png)',
  '`code` **bold** _it_ ~~gone~~ # head',
  'a | b | c',
  'https://evil.test www.evil.test @someone #1',
  '&lt;script&gt; &#60;b&#62;',
  '\\| \\<b>',
])('a page with the name %j is shown as it is called, and is no Markdown', (name) => {
  const { elements, text } = rendered(
    describeCheck({ compared: 1, changed: [changedOn(name)], unfinished: [] }),
  );
  expect(elements).toEqual(['h3', 'table', 'thead', 'tr', 'th', 'tbody', 'td', 'br']);
  expect(text).toContain(`has changed ${name} legal (collection)`);
});

test('a summary stays below the size that GitHub takes, and says how much it leaves out', () => {
  const page = '|'.repeat(290);
  const changed = Array.from({ length: 500 }, () => changedOn(...Array(100).fill(page)));
  const summary = describeCheck({ compared: 500, changed, unfinished: [] });
  expect(Buffer.byteLength(summary)).toBeLessThan(1024 * 1024);
  expect(summary).toMatch(/\n\nand \d+ more\n\n$/);
  expect(summary).toContain('<br>and 81 more |');
});

test('a summary is added to what the step has written before; one that cannot be written fails nothing', async () => {
  const { directory, read } = await folderWith({});
  const file = join(directory, 'summary.md');
  const { context } = testContext(directory, { GITHUB_STEP_SUMMARY: file });
  await appendStepSummary(context, 'no record');
  await appendStepSummary(context, 'no record');
  expect((await read('summary.md')).match(/no usable record/g)).toHaveLength(2);

  const broken = testContext(directory, { GITHUB_STEP_SUMMARY: directory });
  await appendStepSummary(broken.context, 'no record');
  expect(broken.output()).toBe('The step summary could not be written: EISDIR\n');
});
