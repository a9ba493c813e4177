import { readFileSync } from 'node:fs';

/** The version of astro-snippets, as package.json has it. */
export const packageVersion: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
