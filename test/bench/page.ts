import { median } from './measure.ts';
import { peersPlot, peersSection } from './peers.ts';
import {
  type BenchResult,
  describeRun,
  type Growth,
  growthOf,
  growthTable,
  isBusy,
  type Measured,
  type Row,
  rowsOf,
  shown,
  sizeOf,
  tableOf,
} from './result.ts';
import type { BenchSite } from './sites.ts';
import { variants } from './variants.ts';

/** The site on which the page compares other ways to show snippets. */
function charted({ measured }: BenchResult): Measured[] {
  return measured.filter(({ site }) => site.name === 'articles');
}

/** The text of docs/performance.md. @param peers what other ways to show snippets cost, once that was measured */
export function performancePage(result: BenchResult, peers: BenchResult | undefined): string {
  const growth = growthOf(result);
  return `# Performance

<!-- From \`npm run bench\`, by \`npm run docs\`. -->

Compared with the same contents typed into the pages:

${tableOf(result)}
A page has 5 embeds, of 200 snippets unless it says otherwise. The service answers at once, or after the time given. _Built before_: with the record of the last build. _The pass_ follows Astro.

Each figure is a median. The builds that are compared took turns, so that a busy machine slowed down all of them. ${describeRun(result)}

${peers ? peersSection(peers) : ''}${charted(result).map(({ site }) => chartSection(site))}${growth.length === 0 ? '' : growthSection(growth)}## Measure it yourself

\`\`\`sh
npm run bench
npm run bench -- --quick
npm run bench -- --peers
\`\`\`
`;
}

const chartSection = (site: BenchSite) => `## Other ways to show snippets

On ${sizeOf(site)}. _Fetch, read, replace, write_ is the least that can be done.

![Wall time of each way](performance/${site.name}.svg)

`;

const growthSection = (growth: readonly Growth[]) => `## Growth

Of the pass: µs of CPU time per embed, MB of memory.

${growthTable(growth)}
![CPU time per embed, by what grows](performance/growth.svg)

Embeds share the cost of their page, whose code is slower before it is compiled. Long contents cost what it takes to write them.

With 50,000 snippets, the first limit is a \`check\` of 50,000 requests: [webhooks](push.md) ask for one only after a change.

`;

/**
 * The lines of the README, for the slower of two kinds of site. CPU time first: it says more on a busy
 * machine.
 */
export function readmeLines(result: BenchResult): string {
  const rows = rowsOf(result);
  const cpuOf = ({ usages }: Row) => median(usages.map(({ cpu }) => cpu));
  const builds = rows.filter(({ subject }) => /^5,000 (?:pages|articles)$/.test(subject));
  const [slower] = builds.sort((a, b) => cpuOf(b) - cpuOf(a));
  const refresh = rows.find(({ subject }) => subject.startsWith('`refresh`'));
  const wall = (row: Row) => (isBusy(result) ? '' : `, ${shown(row, 'wall')} wall time`);
  const busy = isBusy(result) ? ' (a busy one, so CPU time alone says something)' : '';
  return [
    slower &&
      `- ${slower.subject} with 5 embeds each, a first build: ${shown(slower, 'cpu')} the CPU time${wall(slower)} of the same site with the contents typed in\n`,
    refresh &&
      `- ${refresh.subject}, instead of a build: ${shown(refresh, 'cpu')} of CPU time${wall(refresh)}\n`,
    `- How it was measured, on which machine${busy}, and the rest: [docs/performance.md](docs/performance.md)\n`,
  ].join('');
}

const bar = { height: 22, gap: 10, name: 270, length: 360, width: 760 };

/** The charts by file name: a bar for each approach, and plots. */
export function charts(result: BenchResult, peers: BenchResult | undefined): Map<string, string> {
  const drawn = charted(result).map((measured) => [`${measured.site.name}.svg`, chart(measured)] as const);
  const growth = growthOf(result);
  return new Map([
    ...(peers ? [['peers.svg', peersPlot(peers)] as const] : []),
    ...drawn,
    ...(growth.length === 0 ? [] : [['growth.svg', plot(growth)] as const]),
  ]);
}

const style =
  '<style>text{font:14px system-ui,sans-serif;fill:#1f2937}.ours{fill:#047857}.other{fill:#1d4ed8}path{fill:none;stroke:#1d4ed8;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.ours{fill:#6ee7b7}.other{fill:#93b4ff}path{stroke:#93b4ff}}</style>';

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
${style}
${drawn.join('\n')}
</svg>
`;
}

const plotted = { width: 760, height: 400, left: 60, right: 170, bottom: 40, top: 20 };
/** The cost of an embed, with a line for each thing that grows. Both scales are logarithmic. */
function plot(growth: readonly Growth[]): string {
  const { width, height, left, right, bottom, top } = plotted;
  // The scales go from 1 to 1,000,000 of something, and from 1 µs to 10 ms.
  const x = (value: number) => (left + (Math.log10(value) / 6) * (width - left - right)).toFixed(1);
  const y = (value: number) =>
    (height - bottom - (Math.log10(value) / 4) * (height - bottom - top)).toFixed(1);
  const grown = growth.filter(({ points }) => points.length > 1);
  const lines = grown.map(({ name, points }) => {
    const places = points.map(({ size, perEmbed }) => [x(size), y(Math.max(1, perEmbed))] as const);
    const [endX, endY] = places.at(-1) ?? [];
    return `<path d="M${places.join('L')}"/><text x="${Number(endX) + 8}" y="${endY}" dominant-baseline="central">${name}</text>`;
  });
  const steps = [1, 100, 10_000, 1_000_000].map(
    (value) =>
      `<text x="${x(value)}" y="${height - 12}" text-anchor="middle">${value.toLocaleString('en')}</text>`,
  );
  const costs = ['1 µs', '10 µs', '0.1 ms', '1 ms', '10 ms'].map(
    (text, power) =>
      `<text x="${left - 8}" y="${y(10 ** power)}" text-anchor="end" dominant-baseline="central">${text}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="CPU time per embed, by what grows">
${style}
${[...lines, ...steps, ...costs].join('\n')}
</svg>
`;
}
