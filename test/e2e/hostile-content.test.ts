import { describe, expect, test } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { prepareSnippet } from '../../src/content/prepare-snippet.ts';
import { scan } from '../../src/embed/scan.ts';
import { throwFailures } from '../../src/failures/failure-report.ts';
import { textOf } from '../../src/markup/text-of.ts';
import type { HtmlRules } from '../../src/settings/options.ts';
import { readEmbeds } from '../../src/snippets/read-embeds.ts';
import { createSite } from '../support/site/site.ts';

// With quadratic time, these tests would time out.
const bytes = 2 * 1024 * 1024;
const fill = (piece: string) => piece.repeat(Math.floor(bytes / piece.length));
const rules: HtmlRules = { sanitize: undefined, scripts: 'strip', strict: false, policy: 'warn' };
const use = { request: createRequest(1), asHtml: true };

const hostile: Record<string, string> = {
  '<b>': fill('<b>'),
  '<svg>': fill('<svg>'),
  '<div>': fill('<div>'),
  '<b> that are closed': fill('<b>').slice(0, bytes / 2) + fill('</b>').slice(0, bytes / 2),
  '<table>': fill('<table>'),
  '<template>': fill('<template>'),
  'formatting that is nested wrongly': fill('<b><i></b>'),
  'unclosed quotes': fill('<a title="'),
  'comments that do not end': fill('<!--'),
  '<': fill('<'),
  '&': fill('&'),
};

describe('2 MB of hostile content are handled in linear time:', () => {
  test.for(Object.entries(hostile))('%s', async ([, content]) => {
    const prepared = await prepareSnippet({ content }, use, rules).catch((error: unknown) => error);
    if (content.split('<').length > 100_001) {
      expect(prepared).toMatchObject({
        code: 'too-many-tags',
        message: 'Snippet 1 has more than 100000 tags.',
      });
    }
    expect(textOf(content).length).toBeLessThanOrEqual(bytes);
    expect(scan(Buffer.from(`${content}<snippet-embed id="1">`), 'html').embeds).toHaveLength(0);
  });

  test('100,000 tags, the maximum', async () => {
    for (const tag of ['<b>', '<svg>', '<div>', '<b><p>', '<a>']) {
      const content = tag.repeat(100_000 / (tag.split('<').length - 1));
      expect((await prepareSnippet({ content }, use, rules)).html).toBe(content);
    }
  });

  test('100,000 attributes', async () => {
    const attributes = Array.from({ length: 100_000 }, (_, index) => `a${index}=b`).join(' ');
    const content = `<p ${attributes}>x</p>`;
    expect((await prepareSnippet({ content }, use, rules)).html).toBe(content);
    const page = Buffer.from(`<p ${attributes} title='<snippet-embed id="1"></snippet-embed>'>x</p>`);
    expect(scan(page, 'html').embeds).toHaveLength(1);
  });

  test('nested scripts are refused if stripping them takes too many rounds', async () => {
    const nested = (depth: number) => '<'.repeat(depth) + 'script></script>'.repeat(depth);
    expect((await prepareSnippet({ content: nested(15) }, use, rules)).html).toBe('');
    await expect(prepareSnippet({ content: nested(40_000) }, use, rules)).rejects.toMatchObject({
      code: 'script-refused',
      message: 'Snippet 1 contains scripts that are nested too deep to be stripped.',
    });
  });
});

describe('10,000 faulty embeds on one page are reported together, with ten examples:', () => {
  test.for([
    ['without an end', '<p><snippet-embed id="1"></p>\n'],
    ['without a valid id', '<p><snippet-embed id="x"></snippet-embed></p>\n'],
    ['with invalid params', '<p><snippet-embed id="1" params="{"></snippet-embed></p>\n'],
    ['in another embed', '<snippet-embed id="1"><snippet-embed id="1"></snippet-embed></snippet-embed>\n'],
    ['in an attribute with code', `<p onclick="<snippet-embed id='1'></snippet-embed>"></p>\n`],
    ['that were not rendered', '<p><Snippet id={1} /></p>\n'],
  ] as const)('%s', ([, faulty]) => {
    const page = Buffer.from(`<html>\n${faulty.repeat(10_000)}</html>`);
    const { invalid } = readEmbeds({ name: 'index.html', bytes: page, kind: 'html' }, new Map());
    expect(invalid).toHaveLength(10_000);
    let message = '';
    try {
      throwFailures({ failed: [], notAsked: 0, embeds: invalid, settings: {} });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain('10000 embeds are invalid.');
    expect(message.match(/index\.html:\d+\n/g)).toHaveLength(10);
    expect(message).toContain('index.html:11\n');
    expect(message).toContain('9990 more embeds with the same error.');
  });

  test('in a build whose Markdown has as many component tags', async () => {
    const site = await createSite({ 'src/pages/index.md': '<Snippet id={1} />\n\n'.repeat(10_000) });
    const { exitCode, output } = await site.build();
    expect(exitCode).toBe(1);
    expect(output).toContain('9990 more embeds with the same error. [unrendered-component]');
    expect(output).toContain(
      'written in src/pages/index.md:1, src/pages/index.md:3, src/pages/index.md:5 or 9997 more places',
    );
    await site.remove();
  });
});
