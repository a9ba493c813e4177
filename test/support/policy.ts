import { byAstro } from './installation.ts';

// Both are experiments in Astro 5.

/** What turns Astro's Content Security Policy on, in its config. */
export const csp: string = byAstro({
  5: 'experimental: { csp: true }',
  6: 'security: { csp: true }',
  7: 'security: { csp: true }',
});

/** The option of an adapter that sends the policy of a page in its headers. */
export const staticHeaders: string = byAstro({
  5: 'experimentalStaticHeaders: true',
  6: 'staticHeaders: true',
  7: 'staticHeaders: true',
});

/** Where the adapter keeps the headers of its pages. */
export const headersFile: string = byAstro({
  5: '_experimentalHeaders.json',
  6: '_headers.json',
  7: '_headers.json',
});

/** The config of a site with a policy. */
export const configWithPolicy = (options = '', more = ''): string => `
import { defineConfig } from 'astro/config';
import node from '@astrojs/node';
import snippets from 'astro-snippets';
export default defineConfig({ ${csp}, integrations: [snippets(${options})], ${more} });`;

/** A snippet with code. With CRLF: what a browser hashes is what its parser made of it. */
export const snippetWithCode = (color: string): string =>
  `<i>snippet</i><script>\r\ndocument.documentElement.dataset.ran = '${color}';</script><style>i { color: ${color}; }</style>`;
