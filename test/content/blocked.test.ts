import { expect, test } from 'vitest';
import { allowsImage, allowsInline, describeBlocked } from '../../src/content/blocked.ts';
import { hashSource } from '../../src/content/hash-source.ts';
import { policyTable, restrictedCode } from '../support/site/policy-table.ts';

test.for(policyTable)('what %j blocks is known', ([policy, expected]) => {
  const blocked = (Object.keys(restrictedCode) as (keyof typeof restrictedCode)[]).filter(
    (kind) => !allowsInline(policy, kind, hashSource(restrictedCode[kind])),
  );
  const image = allowsImage(policy, '/images/a.png', 'http://localhost:4321') ? [] : ['image'];
  expect([...blocked, ...image]).toEqual(expected);
});

test.for([
  ['img-src https://site.example', 'https://site.example', true],
  ['img-src site.example', 'https://site.example', true],
  ['img-src *.site.example', 'https://www.site.example', true],
  // Without the option `site`, only `'self'` is known to be the site.
  ['img-src https://site.example', undefined, false],
  ["img-src 'self'", undefined, true],
] as const)('the own image of a site under %j with `site` %s: %s', ([policy, site, isAllowed]) => {
  expect(allowsImage(policy, '/_astro/a.png', site)).toBe(isAllowed);
});

test.for([
  ["img-src 'self'", false],
  ['img-src https://cdn.example', true],
  ['img-src https://cdn.example/assets/', false],
  ['img-src http://CDN.example', true],
] as const)('an image below `assetsPrefix`, on another host, under %j: %s', ([policy, isAllowed]) => {
  expect(allowsImage(policy, 'https://cdn.example/_astro/a.png', 'https://site.example')).toBe(isAllowed);
});

test('of several policies, each can block, and what all allow is not named', () => {
  const inlineCode = { scripts: ["'sha256-S'"], styles: ["'sha256-T'"], attributes: [] };
  const describe = (...policies: string[]) => describeBlocked({ inlineCode }, policies, 'warn');
  expect(describe("script-src 'unsafe-inline'", "style-src 'sha256-T'")).toEqual([]);
  expect(describe("script-src 'unsafe-inline'", "script-src 'sha256-S'", "style-src 'none'")).toEqual([
    "contains an inline style, blocked by the site's Content Security Policy. Set csp: 'hash' to allow scripts and styles by their hashes.",
  ]);
});
