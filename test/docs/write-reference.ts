import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { charts, performancePage } from '../bench/page.ts';
import { fullResult, peersResult } from '../bench/result.ts';
import { llmsText } from './llms.ts';
import { outputs } from './outputs.ts';
import { fillPage, pages, readPage } from './pages.ts';
import { reference } from './reference.ts';

// `npm run docs`: writes the generated parts of the docs. A test fails if they are out of date.
const root = join(import.meta.dirname, '../..');
const measured = JSON.parse(readFileSync(fullResult, 'utf8'));
const peers = existsSync(peersResult) ? JSON.parse(readFileSync(peersResult, 'utf8')) : undefined;
writeFileSync(join(root, 'docs/performance.md'), performancePage(measured, peers));
const folder = join(root, 'docs/performance');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, svg] of charts(measured, peers)) writeFileSync(join(folder, name), svg);
const parts = reference();
for (const run of Object.values(outputs)) {
  for (const [name, text] of await run()) parts.set(name, text);
}
for (const page of pages) writeFileSync(join(root, page), fillPage(readPage(page), parts));
writeFileSync(join(root, 'llms.txt'), llmsText());
