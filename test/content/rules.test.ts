import { expect, test } from 'vitest';
import { headerPolicies } from '../../src/content/csp.ts';
import { findScripts } from '../../src/content/scripts.ts';

test("a page's policy in headers allows what is inlined on it, also where its route begins with the base", () => {
  const policy = "script-src 'self'";
  const headers = new Headers({ 'content-security-policy': policy });
  const allow = headerPolicies(new Map([['/docs/about', { headers, route: {} as never }]]), '/docs');
  allow('other/index.html', { scripts: ["'sha256-X'"], styles: [] });
  expect(headers.get('content-security-policy')).toBe(policy);
  allow('about/index.html', { scripts: ["'sha256-S'"], styles: [] });
  expect(headers.get('content-security-policy')).toBe("script-src 'self' 'sha256-S'");
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
