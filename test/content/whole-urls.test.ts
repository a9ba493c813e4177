import { describe, expect, test } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { prepareSnippet, type SnippetDisplay } from '../../src/content/prepare-snippet.ts';
import type { HtmlRules } from '../../src/settings/options.ts';

const allow: HtmlRules = { sanitize: undefined, scripts: 'allow', strict: false, policy: 'none' };
const display: SnippetDisplay = { request: createRequest(1), asHtml: false, asUrl: true };
const urlOf = async (content: string, rules: Partial<HtmlRules> = {}) =>
  (await prepareSnippet({ content }, display, { ...allow, ...rules })).url;

test.for([
  [' https://x.test/?a=1&amp;b=2\n', 'https://x.test/?a=1&b=2'],
  ['<p>/prices</p>', '/prices'],
  ['/a b, c.png', '/a%20b,%20c.png'],
  ['mailto:ann@x.test', 'mailto:ann@x.test'],
] as const)('the content %j is shown as the URL %s', async ([content, url]) => {
  expect(await urlOf(content)).toBe(url);
});

test('a URL is adapted to the site, as a link to a page is', async () => {
  const links: HtmlRules['links'] = { base: '/docs/', trailingSlash: 'always' };
  expect(await urlOf('/prices?a=1', { links })).toBe('/docs/prices/?a=1');
  expect(await urlOf('https://x.test/prices', { links })).toBe('https://x.test/prices');
});

describe('a URL that runs a script', () => {
  const urls = ['javascript:alert(1)', ' JavaScript&colon;alert(1)', '&#1;javascript:alert(1)'];

  test.for(urls)('%j stays where scripts are allowed, and is empty where they are stripped', async (url) => {
    expect(await urlOf(url)).toMatch(/script:alert\(1\)$/i);
    expect(await urlOf(url, { scripts: 'strip' })).toBe('');
  });

  test.for(urls)('%j is refused where scripts are an error, and on a site that sanitizes', async (url) => {
    const refused = { code: 'script-refused', message: expect.stringContaining('is a javascript: URL') };
    await expect(urlOf(url, { scripts: 'error' })).rejects.toMatchObject(refused);
    await expect(urlOf(url, { sanitize: (html) => html })).rejects.toMatchObject(refused);
  });

  test('is text in any other place', async () => {
    const content = 'javascript: the good parts';
    const shown = await prepareSnippet(
      { content },
      { ...display, asUrl: false },
      { ...allow, scripts: 'error' },
    );
    expect(shown).toMatchObject({ text: content, url: undefined });
  });
});

test.for(['</SCRIPT>', '<!-- x -->', '<script>x</script>'])(
  'content with %s is refused in a script with a template, which it would end, and nowhere else',
  async (content) => {
    const inScript = { request: createRequest(1), asHtml: true, inTemplate: true };
    await expect(prepareSnippet({ content }, inScript, allow)).rejects.toMatchObject({
      code: 'script-refused',
    });
    expect(await prepareSnippet({ content }, { ...inScript, inTemplate: false }, allow)).toMatchObject({
      html: content,
    });
  },
);
