import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { charts, performancePage, readmeLines } from '../bench/page.ts';
import { fullResult } from '../bench/result.ts';
import { errorsPage, exitStatusTable, optionsTable } from './reference.ts';

// `npm run docs`: writes what the documentation takes from the source. A test fails if it is out of date.
const root = join(import.meta.dirname, '../..');
const readme = join(root, 'README.md');
const text = readFileSync(readme, 'utf8');
const measured = JSON.parse(readFileSync(fullResult, 'utf8'));
writeFileSync(
  readme,
  text
    .replace(/\| option \|[\s\S]*?\n(?=\n)/, () => `${optionsTable()}\n`)
    .replace(/\| exit status \|[\s\S]*?\n(?=\n)/, () => `${exitStatusTable()}\n`)
    .replace(/(?<=\n## How fast\n\n)[\s\S]*?(?=\n## )/, () => readmeLines(measured)),
);
writeFileSync(join(root, 'docs/errors.md'), errorsPage());
writeFileSync(join(root, 'docs/performance.md'), performancePage(measured));
const folder = join(root, 'docs/performance');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, svg] of charts(measured)) writeFileSync(join(folder, name), svg);
