import { byAstro, lacks } from './installation.ts';

/** Why Astro writes no Content Security Policy; `undefined` if it does. */
export const lacksPolicy: string | undefined = lacks('experimental.csp', '5.9.0');

/** The setting for Astro's Content Security Policy, an experiment in Astro 5. */
export const csp: string = byAstro({
  5: lacksPolicy === undefined ? 'experimental: { csp: true }' : '',
  6: 'security: { csp: true }',
  7: 'security: { csp: true }',
});

/** The adapter's option to send the policy of a page in its headers, an experiment in Astro 5. */
export const staticHeaders: string = byAstro({
  5: 'experimentalStaticHeaders: true',
  6: 'staticHeaders: true',
  7: 'staticHeaders: true',
});

/** The adapter's file with the headers of its pages. */
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
export default defineConfig({ ${csp && `${csp},`} integrations: [snippets(${options})], ${more} });`;

/** A snippet with code. Its line breaks are CRLF, since a browser hashes code after parsing it. */
export const snippetWithCode = (color: string): string =>
  `<i>snippet</i><script>\r\ndocument.documentElement.dataset.ran = '${color}';</script><style>i { color: ${color}; }</style>`;
