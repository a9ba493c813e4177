import { execFileSync } from 'node:child_process';
import { readPage } from './pages.ts';

// Counts the words of all tracked pages as `wc -w` does, except pages that only grow.
const most = 19_500;
const pages = execFileSync('git', ['ls-files', '*.md', ':!CHANGELOG.md', ':!docs/decisions'], {
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .map((page) => ({ page, words: readPage(page).split(/\s+/).filter(Boolean).length }))
  .sort((a, b) => b.words - a.words);
const total = pages.reduce((sum, { words }) => sum + words, 0);

if (total <= most) process.stdout.write(`${total} words in ${pages.length} pages\n`);
else {
  for (const { page, words } of pages) process.stderr.write(`${String(words).padStart(6)} ${page}\n`);
  process.stderr.write(`${total} words, at most ${most}: say each thing once, where a reader looks for it\n`);
  process.exitCode = 1;
}
