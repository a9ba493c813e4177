import { hashSource } from '../../../src/content/hash-source.ts';

/** Code of a page, each kind of which sets an attribute of the root element if it runs. */
export const restrictedCode = {
  script: "document.documentElement.dataset.script = 'ran'",
  handler: "document.documentElement.dataset.handler = 'ran'",
  url: "javascript:void(document.documentElement.dataset.url = 'ran')",
  styleSheet: ':root { --sheet: applied }',
  style: '--attribute: applied',
} as const;

type Kind = keyof typeof restrictedCode | 'image';

const hashes = Object.fromEntries(
  Object.entries(restrictedCode).map(([kind, code]) => [kind, hashSource(code)]),
) as Record<keyof typeof restrictedCode, string>;

/** Policies, and what of a page's code and of its own image `/images/a.png` a browser blocks because of each. */
export const policyTable: readonly (readonly [policy: string, blocked: readonly Kind[]])[] = [
  ['', []],
  ["script-src 'self'", ['script', 'handler', 'url']],
  ["style-src 'self'", ['styleSheet', 'style']],
  ["default-src 'none'", ['script', 'handler', 'url', 'styleSheet', 'style', 'image']],
  ["default-src 'self'", ['script', 'handler', 'url', 'styleSheet', 'style']],
  ["default-src 'unsafe-inline'", ['image']],
  ["script-src 'unsafe-inline'", []],
  ["script-src 'Unsafe-Inline' 'self' https:", []],
  ["script-src 'unsafe-inline' 'nonce-abc'", ['script', 'handler', 'url']],
  ["script-src 'unsafe-inline' 'sha256-AAAA'", ['script', 'handler', 'url']],
  ["script-src 'unsafe-inline' 'strict-dynamic'", ['script', 'handler', 'url']],
  ["style-src 'unsafe-inline' 'strict-dynamic'", []],
  ["style-src 'unsafe-inline' 'sha256-AAAA'", ['styleSheet', 'style']],
  [`script-src ${hashes.script}`, ['handler', 'url']],
  [`script-src ${hashes.handler}`, ['script', 'handler', 'url']],
  [`script-src 'unsafe-hashes' ${hashes.handler}`, ['script', 'url']],
  [`script-src 'unsafe-hashes' ${hashes.url}`, ['script', 'handler']],
  [`style-src ${hashes.styleSheet} ${hashes.style}`, ['style']],
  [`style-src 'unsafe-hashes' ${hashes.styleSheet} ${hashes.style}`, []],
  ["script-src 'none'; script-src-elem 'unsafe-inline'", ['handler']],
  ["script-src 'none'; script-src-attr 'unsafe-inline'", ['script', 'url']],
  ["script-src 'unsafe-inline'; script-src 'none'", []],
  ["style-src-elem 'none'; style-src 'unsafe-inline'", ['styleSheet']],
  ["script-src 'none' 'unsafe-inline'", []],
  ["img-src 'self'", []],
  ["img-src 'none'", ['image']],
  ['img-src', ['image']],
  ['img-src data:', ['image']],
  ['img-src *', []],
  ['img-src http:', []],
  ['img-src https:', ['image']],
  ['img-src localhost:*', []],
  ['img-src localhost', ['image']],
  ['img-src http://localhost:*/images/', []],
  ['img-src http://localhost:*/images', ['image']],
  ['img-src http://localhost:*/images/a.png', []],
  ['img-src *.localhost:* https://cdn.example', ['image']],
  ["img-src 'self'; default-src 'none'", ['script', 'handler', 'url', 'styleSheet', 'style']],
];
