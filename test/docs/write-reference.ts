import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsPage, exitStatusTable, optionsTable } from './reference.ts';

// `npm run docs`: writes what the documentation takes from the source. A test fails if it is out of date.
const root = join(import.meta.dirname, '../..');
const readme = join(root, 'README.md');
const text = readFileSync(readme, 'utf8');
writeFileSync(
  readme,
  text
    .replace(/\| option \|[\s\S]*?\n(?=\n)/, () => `${optionsTable()}\n`)
    .replace(/\| exit status \|[\s\S]*?\n(?=\n)/, () => `${exitStatusTable()}\n`),
);
writeFileSync(join(root, 'docs/errors.md'), errorsPage());
