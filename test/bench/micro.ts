import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inline } from '../../src/embed/inline.ts';
import { scan } from '../../src/embed/scan.ts';
import { contentOf } from './contents.ts';
import { median } from './measure.ts';

/** What is too short to be seen in a whole build. */
export interface Micro {
  /** A page of 1 MB with 1,000 embeds, scanned and inlined, in milliseconds. */
  largePage: number;
  /** Scanning pages without embeds, in GB/s. */
  plainScan: number;
  /** What importing the integration, and calling it, adds to a process that has Astro and Vite, in milliseconds. */
  imported: number;
}

const root = join(import.meta.dirname, '../..');

export function measureMicro(): Micro {
  return { largePage: largePage(), plainScan: plainScan(), imported: imported() };
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function largePage(): number {
  const place = (index: number) =>
    `<section><div><snippet-embed id="${index % 200}"></snippet-embed></div></section>`;
  const filler = `<p>${'Lorem ipsum dolor sit amet. '.repeat(35)}</p>`;
  const page = Buffer.from(Array.from({ length: 1_000 }, (_, index) => place(index) + filler).join('\n'));
  const work = () =>
    inline(page, scan(page, 'html').embeds, ({ attributes }) => {
      const content = contentOf(Number(attributes.id));
      return { html: content, text: content };
    });
  return median(Array.from({ length: 21 }, () => timed(work)));
}

function plainScan(): number {
  const page = Buffer.from(
    `<html><body>${'<p class="x">Lorem ipsum dolor sit amet.</p>\n'.repeat(90)}</body></html>`,
  );
  const times = 20_000;
  const work = () => {
    for (let time = 0; time < times; time++)
      if (scan(page, 'html').embeds.length > 0) throw new Error('An embed?');
  };
  const seconds = median(Array.from({ length: 5 }, () => timed(work))) / 1000;
  return (page.length * times) / seconds / 1e9;
}

/** In processes of their own, with and without, in turns. */
function imported(): number {
  const astro = pathToFileURL(join(root, 'node_modules/astro/dist/config/index.js')).href;
  const vite = pathToFileURL(join(root, 'node_modules/vite/dist/node/index.js')).href;
  const ours = pathToFileURL(join(root, 'dist/index.js')).href;
  const script = `await import('${astro}'); await import('${vite}'); await import('${pathToFileURL(join(root, 'node_modules/astro/dist/core/config/schemas/index.js')).href}');
const start = performance.now();
(await import('${ours}')).default();
console.log(performance.now() - start);`;
  const run = () =>
    Number(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' }),
    );
  return median(Array.from({ length: 7 }, run));
}
