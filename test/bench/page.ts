import { median } from './measure.ts';
import { type BenchResult, isBusy, rowsOf, sizeOf, tableOf, variantTable } from './result.ts';
import type { Measured } from './run-sites.ts';
import { variants } from './variants.ts';

/** Sites of which several approaches were measured. */
function charted({ measured }: BenchResult): Measured[] {
  return measured.filter(({ site }) => site.embeds > 0 && site.variants.length > 1);
}

/** The text of docs/performance.md. */
export function performancePage(result: BenchResult): string {
  const sites = charted(result).map(
    (measured) => `## ${sizeOf(measured.site)}, ${measured.site.distinct} snippets

![Wall time of each approach](performance/${measured.site.name}.svg)

${variantTable(measured)}`,
  );
  return `# Performance

<!-- Written by \`npm run docs\` from the last whole run of \`npm run bench\`. -->

The limit is the same site with the contents typed into its pages. Each approach is built in turns with the others, so that
a slow phase of the machine affects all of them: what counts are the ratios within a round, of which the tables show the
median and the extremes. The service is another process, over TLS, and answers after the latency that is named.

${tableOf(result)}
A ratio is to the site that is typed in, unless it names another. CPU is that of the whole process, on all threads. The floor
is what the same site takes with the least that gets snippets into finished pages: each is fetched once over the same
transport, and pages are read, replaced and written, without a check, a retry or a record. Of a site without embeds it is
an integration that does nothing.
"The pass alone" is what happens after Astro has generated the pages, without the network: scan, inline, verify, record.

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
  '100 ms, with the last manifest': ', a later build, from a service that answers after 100 ms',
  'refresh of': ', instead of a build',
  'the pass alone: CPU': ', without what Astro does',
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
