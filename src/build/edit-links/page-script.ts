import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSource } from '../../html/content-security-policy.ts';

let code: string | undefined;

/** The script for edit links, the same for every page. */
export function pageScript(): string {
  // Without what only its readers need, since it is in every page.
  code ??= readFileSync(join(import.meta.dirname, 'page.js'), 'utf8').replace(
    /^\s*(?:(?:\/\/.*|\/\*\*.*\*\/)\n)*\s*/gm,
    '',
  );
  return code;
}

/** What a Content Security Policy has to allow for the script: `'sha256-…'`. */
export function scriptSource(): string {
  return hashSource(pageScript());
}
