import { execFileSync } from 'node:child_process';
import { posix } from 'node:path';
import { links, readPage } from './pages.ts';

// Checks what `npm publish` would send: every link in its pages leads to a packed file, and there are not too many files.
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' }),
);
const files = new Set<string>(packed.files.map(({ path }: { path: string }) => path));
// Each module of src is two files, its code and its types. The pages and what is around them are about 30.
const most = 600;

const dead = [...files]
  .filter((file) => file.endsWith('.md'))
  .flatMap((page) => links(readPage(page)).map((target) => ({ page, target })))
  .filter(({ target }) => !/^(https:|#)/.test(target))
  .filter(({ page, target }) => !files.has(posix.join(posix.dirname(page), target.split('#')[0] ?? '')))
  .map(({ page, target }) => `${page}: ${target} is not in the package`);
const flaws = files.size > most ? [...dead, `${files.size} files, at most ${most}`] : dead;

for (const flaw of flaws) process.stderr.write(`${flaw}\n`);
if (flaws.length > 0) process.exitCode = 1;
else process.stdout.write(`${files.size} files, and no dead link\n`);
