import { median } from './measure.ts';
import { type BenchResult, isBusy, rowsOf, sizeOf, tableOf } from './result.ts';
import type { Measured } from './run-sites.ts';
import { variants } from './variants.ts';

/** Sites of which several approaches were measured. */
function charted({ measured }: BenchResult): Measured[] {
  return measured.filter(({ site }) => site.embeds > 0 && site.variants.length > 1);
}

/** The text of docs/performance.md. */
export function performancePage(result: BenchResult): string {
  const sites = charted(result).map(
    ({ site }) => `## ${sizeOf(site)}\n\n![Wall time of each approach](performance/${site.name}.svg)\n`,
  );
  return `# Performance

<!-- Written by \`npm run docs\` from the last whole run of \`npm run bench\`. -->

What does a build cost with snippets? A ratio compares it with the same site with the contents typed into its pages, unless
the row names another. \`5,000 pages × 5, 100 ms\` is a site with five embeds on each page, and a service that answers after
100 ms. The service is another process, over TLS.

${tableOf(result)}
- _Measured_ is the median of the rounds, _spread_ their extremes, and _aim_ the most that it should be. Ratios are within a
  round, in which the approaches are built in turns.
- _CPU_ is the time of the whole process, on all threads.
- _Floor_ is the least that puts snippets into pages: fetch each once, read, replace and write, without a check, a retry or a
  record. For the site without embeds, it is an integration that does nothing.
- _The pass alone_ is what happens after Astro has generated the pages, without the network.

${sites.join('\n')}
## Measure it yourself

\`\`\`sh
npm run bench              # everything, five rounds
npm run bench -- --quick   # smaller sites, in under two minutes on a machine with nothing else to do
npm run bench -- --sites large small --rounds 3
\`\`\`
`;
}

/** The lines of the README, and where the rest is. CPU first: it says more on a machine that has other work, too. */
export function readmeLines(result: BenchResult): string {
  const rows = rowsOf(result).filter(({ what }) => !what.includes('against'));
  const lines = Object.entries(readmeParts).flatMap(([part, circumstances]) => {
    const row = rows.find(({ what }) => what.includes(part));
    if (row === undefined) return [];
    const { what, values, cpu, unit } = row;
    const size = (what.split(`, ${part}`)[0] ?? '')
      .replace(/ × (\d+)/, ' with $1 embeds each')
      .replace(/^refresh/, '`refresh`');
    const shown = (numbers: readonly number[]) => `${median(numbers).toFixed(2)} ${unit}`;
    const compared = unit === '×' ? ' of the same site with the contents typed in' : '';
    const name = `${size}${circumstances}`;
    if (cpu === undefined) return `- ${name}: ${shown(values)} of CPU time`;
    const wall = isBusy(result) ? '' : `, ${shown(values)} wall time`;
    return `- ${name}: ${shown(cpu)} ${unit === '×' ? 'the' : 'of'} CPU time${wall}${compared}`;
  });
  const busy = isBusy(result) ? ' (a busy one, so CPU time alone says something)' : '';
  return `${lines.join('\n')}\n- How it was measured, on which machine${busy}, and the rest: [docs/performance.md](docs/performance.md)\n`;
}

/** What the README names of the measurements, with what it says instead of the names on the page. */
const readmeParts = {
  '0 ms, cold': ', a first build, from a service that answers at once',
  'refresh of': ', instead of a build',
};

const bar = { height: 22, gap: 10, name: 270, length: 360, width: 760 };

/** The charts, by their file names: a bar for each approach. */
export function charts(result: BenchResult): Map<string, string> {
  return new Map(charted(result).map((measured) => [`${measured.site.name}.svg`, chart(measured)]));
}

function chart({ site, runs }: Measured): string {
  const rows = site.variants.flatMap((name) => {
    const walls = (runs[name] ?? []).map(({ wall }) => wall);
    return walls.length === 0 ? [] : [{ name: variants[name].name, wall: median(walls) }];
  });
  const longest = Math.max(...rows.map(({ wall }) => wall));
  const height = rows.length * (bar.height + bar.gap) + bar.gap;
  const drawn = rows.map(({ name, wall }, index) => {
    const top = bar.gap + index * (bar.height + bar.gap);
    const width = Math.max(2, (wall / longest) * bar.length).toFixed(1);
    const middle = top + bar.height / 2;
    const kind = name.startsWith('astro-snippets') ? 'ours' : 'other';
    return `<text x="${bar.name - 12}" y="${middle}" text-anchor="end" dominant-baseline="central">${name}</text>
<rect class="${kind}" x="${bar.name}" y="${top}" width="${width}" height="${bar.height}" rx="2"/>
<text x="${(bar.name + Number(width) + 8).toFixed(1)}" y="${middle}" dominant-baseline="central">${wall.toFixed(2)} s</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${bar.width} ${height}" width="${bar.width}" height="${height}" role="img" aria-label="Wall time: ${rows.map(({ name, wall }) => `${name} ${wall.toFixed(2)} s`).join(', ')}">
<style>text{font:14px system-ui,sans-serif;fill:#1f2937}.ours{fill:#047857}.other{fill:#1d4ed8}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.ours{fill:#6ee7b7}.other{fill:#93b4ff}}</style>
${drawn.join('\n')}
</svg>
`;
}
