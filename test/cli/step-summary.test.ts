import { join } from 'node:path';
import markdownIt from 'markdown-it';
import { expect, test } from 'vitest';
import { checkText } from '../../src/cli/commands/check.ts';
import { appendStepSummary } from '../../src/cli/terminal/step-summary.ts';
import { elementsOf } from '../../src/content/parse.ts';
import { textOf } from '../../src/markup/text-of.ts';
import { folderWith } from '../support/site/folder.ts';
import { cli, testContext } from '../support/tools/cli.ts';

/** The summary of a check that found a changed snippet on these pages, and unfinished work. */
async function summaryOf(...pages: string[]): Promise<string> {
  const { directory, read } = await folderWith({});
  const file = join(directory, 'summary.md');
  const text = checkText({
    exitStatus: 10,
    compared: 3,
    changed: [
      {
        id: 42,
        params: '{"plan":"<b>pro</b> | x"}',
        pages: pages.map((name) => ({ file: name, url: `/${name}` })),
        collections: [{ collection: 'legal', entry: 'imprint' }],
      },
    ],
    warnings: [],
    unfinished: [{ name: 'a.html', reason: 'was not written to all its copies' }],
  });
  await appendStepSummary(testContext(directory, { GITHUB_STEP_SUMMARY: file }).context, text);
  return read('summary.md');
}

/** The text and the element names of a rendered summary. */
function rendered(markdown: string): { elements: string[]; text: string } {
  const html = markdownIt({ html: true, linkify: true }).render(markdown);
  const elements = [...elementsOf(html)].map(({ tagName }) => tagName);
  return { elements: [...new Set(elements)], text: textOf(html) };
}

test('a summary names what has changed, where it is shown, and what is unfinished', async () => {
  const { elements, text } = rendered(await summaryOf('index.html', 'pricing/index.html'));
  expect(elements).toEqual(['h3', 'pre']);
  expect(text).toContain('Snippet 42 {"plan":"<b>pro</b> | x"} has changed index.html pricing/index.html');
  expect(text).toContain('a.html was not written to all its copies');
});

test.each([
  '<img src=x onerror=alert(1)>.html',
  '</pre><img src=x>.html',
  '](https://evil.test) [x](javascript:alert(1)).html',
  '![x](https://evil.test/x.png)',
  '`code` **bold** _it_ ~~gone~~ # head',
  'a | b | c',
  'two\n\n**lines**.html',
  'https://evil.test www.evil.test @someone #1',
  '&lt;script&gt; &#60;b&#62;',
  '\\| \\<b>',
])('a page named %j is shown with that name, and not as Markdown', async (name) => {
  const { elements, text } = rendered(await summaryOf(name));
  expect(elements).toEqual(['h3', 'pre']);
  expect(text).toContain(`has changed ${name.replace(/\s+/g, ' ')} legal (collection)`);
});

test("a summary stays below GitHub's limit, and says if something is left out", async () => {
  const summary = await summaryOf(...Array<string>(5_000).fill('&'.repeat(290)));
  expect(Buffer.byteLength(summary)).toBeLessThan(1024 * 1024);
  expect(summary).toMatch(/\n… The rest is in the log of this step\.<\/pre>\n\n$/);
});

test('a summary is appended to the file; if it cannot be written, nothing fails', async () => {
  const { directory, read } = await folderWith({});
  const file = join(directory, 'summary.md');
  const { context } = testContext(directory, { GITHUB_STEP_SUMMARY: file });
  for (const text of ['one', 'two']) await appendStepSummary(context, text);
  expect(await read('summary.md')).toMatch(/one<.*two</s);

  await cli(directory, ['check'], { GITHUB_STEP_SUMMARY: file });
  expect(await read('summary.md')).toContain('No build manifest found');

  const broken = testContext(directory, { GITHUB_STEP_SUMMARY: directory });
  await appendStepSummary(broken.context, 'one');
  expect(broken.output()).toBe('The step summary could not be written: EISDIR\n');
});
