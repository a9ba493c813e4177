import { readFileSync } from 'node:fs';

/** This package's own version, as package.json has it. */
export const packageVersion: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
