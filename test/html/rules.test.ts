import { expect, test } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { headerPolicies } from '../../src/html/content-security-policy.ts';
import { findScripts } from '../../src/html/parsed-html.ts';
import { applyRules } from '../../src/html/rules.ts';

type AppliedRules = Parameters<typeof applyRules>[2];

const none: AppliedRules = { sanitize: undefined, scripts: 'allow', strict: false, policy: 'none' };
const apply = (content: string, rules: Partial<AppliedRules>) =>
  applyRules({ content }, { request: createRequest(42), asHtml: true }, { ...none, ...rules });

test('pages show the copies of images, and other files the images of their hosts', async () => {
  const copy = { file: 'a.png', href: '/_astro/a.png', width: 2, height: 1 };
  const findImage = async ({ pathname }: URL) => (pathname === '/a.png' ? { copy } : { flaw: 'it is gone' });
  const own = '<img src="https://cdn.test/a.png"><img src="https://cdn.test/b.png">';
  expect(await apply(own, { findImage })).toMatchObject({
    html: expect.stringMatching(/^<img .* src="\/_astro\/a\.png"><img src="https:\/\/cdn\.test\/b\.png">$/),
    htmlElsewhere: own,
    images: [{ file: 'a.png' }, { url: 'https://cdn.test/b.png' }],
    warnings: ['Snippet 42 shows https://cdn.test/b.png from its own host: it is gone.'],
  });
});

test("a page's policy allows what is inlined on it, and no other page's policy does", () => {
  const policy = "script-src 'self'";
  const headers = { about: new Headers({ 'content-security-policy': policy }), plain: new Headers() };
  const routes = new Map([
    ['/docs/about', { headers: headers.about, route: {} as never }],
    ['/docs/plain', { headers: headers.plain, route: {} as never }],
  ]);
  const allow = headerPolicies(routes, '/docs');
  for (const page of ['other/index.html', 'plain/index.html']) {
    allow(page, { scripts: ["'sha256-X'"], styles: [] });
  }
  expect(headers.about.get('content-security-policy')).toBe(policy);
  expect([...headers.plain]).toEqual([]);
  allow('about/index.html', { scripts: ["'sha256-S'"], styles: [] });
  expect(headers.about.get('content-security-policy')).toBe("script-src 'self' 'sha256-S'");
});

test.for([
  [...'javascript:'].join('\t'),
  [...'javascript:'].join('\r\n'),
  '\u0001 \u001f javascript:',
  'JavaScript:',
  '#a;javascript:',
])('%j begins a script', (url) => {
  expect(findScripts(`<a href="${url}x">y</a>`)).toMatchObject([{ what: 'a javascript: URL in href' }]);
});

test.for(['java script:', 'javascript', 'xjavascript:', 'javascripts:', '#javascript:'])(
  '%j begins no script',
  (url) => {
    expect(findScripts(`<a href="${url}x">y</a>`)).toEqual([]);
  },
);
