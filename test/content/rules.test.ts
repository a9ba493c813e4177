import type { IntegrationResolvedRoute } from 'astro';
import { expect, test } from 'vitest';
import { headerPolicies } from '../../src/content/csp.ts';
import { findScripts } from '../../src/content/scripts.ts';

test("a page's policy in headers allows what is inlined on it, and a route without a page is named", () => {
  const policy = "script-src 'self'";
  const route = { type: 'page' } as IntegrationResolvedRoute;
  const [docs, about, gone] = [1, 2, 3].map(() => new Headers({ 'content-security-policy': policy }));
  const routes = new Map(
    Object.entries({ '/docs': docs, '/docs/about': about, '/gone': gone, '/plain': new Headers() }),
  );
  const passed = new Map([...routes].map(([path, headers = new Headers()]) => [path, { headers, route }]));
  const names = ['docs/index.html', 'docs/about/index.html', 'about/index.html'];
  const { allow, withoutPage } = headerPolicies(passed, 'directory', (name) => names.includes(name));

  allow('about/index.html', { scripts: ["'sha256-X'"], styles: [] });
  allow('docs/about/index.html', { scripts: ["'sha256-S'"], styles: [] });
  expect([docs, about].map((headers) => headers?.get('content-security-policy'))).toEqual([
    policy,
    "script-src 'self' 'sha256-S'",
  ]);
  expect(withoutPage).toEqual(['/gone']);
});

test.for([
  [...'javascript:'].join('\t'),
  [...'javascript:'].join('\r\n'),
  '\u0001 \u001f javascript:',
  'JavaScript:',
  'java&NewLine;&Tab;script&colon;',
  '&#1;javascript&#58;',
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
