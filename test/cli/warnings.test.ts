import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type {
  CheckOutput,
  ListOutput,
  RefreshOutput,
  Warning,
  WatchOutput,
} from '../../src/cli/json-output.ts';
import { warningTable } from '../../src/failures/warning-table.ts';
import { type SteppedClock, steppedClock } from '../support/service/clock.ts';
import { builtSite } from '../support/site/built-site.ts';
import { configWith, pageWith } from '../support/site/site.ts';
import { cli, startWatch } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';
import { flawsOf } from '../support/tools/json-output.ts';

const contents = {
  1: 'Free shipping',
  2: '<p>First</p>\n<p>Then <strong>bold</p>',
  3: 'three',
  4: '<a href="/terms/">Terms</a>',
};
const { service, site, output } = await builtSite(contents, {
  'astro.config.mjs': configWith('', { settings: `site: 'https://example.com',` }),
  'src/pages/index.astro': pageWith(
    '<html><head><title>Home</title></head><body><p>Shipping is <Snippet id={1} /> today</p><div><Snippet id={2} /></div></body></html>',
  ),
  'src/pages/about.astro': pageWith(
    `<html><head><title>About</title><meta http-equiv="Content-Security-Policy" content="script-src 'self'"></head><body><div><Snippet id={1} /></div><Snippet id={3} /></body></html>`,
  ),
  'src/pages/terms.astro': pageWith(
    '<html><head><title>Terms</title></head><body><a href="/"><b><Snippet id={4} /></b></a></body></html>',
  ),
});

const page = (name: string) => ({
  file: `${name}index.html`,
  url: `https://example.com/${name}`,
});
const [home, about, terms] = ['', 'about/', 'terms/'].map(page);
const open = {
  id: 2,
  code: 'left-open',
  message: 'Snippet 2 leaves <strong> open, which browsers continue in the rest of the page.',
  hint: warningTable['left-open'].hint,
  line: 2,
  pages: [home],
};
const nested = {
  id: 4,
  code: 'invalid-nesting',
  message: expect.stringContaining('Snippet 4 has a link, inside a link.'),
  hint: warningTable['invalid-nesting'].hint,
  pages: [terms],
};

const saved = await site.texts('.');
beforeEach(async () => {
  for (const [id, content] of Object.entries(contents)) service.put(Number(id), content);
  // Each test begins with the site as it was built.
  const now = await site.texts('.');
  for (const [name, text] of Object.entries(saved)) {
    if (now[name] !== text && /^dist|manifest|pack/.test(name)) await site.write({ [name]: text });
  }
});

/** Runs a command with `--json`, and checks its document. */
async function json<Output>(type: Parameters<typeof flawsOf>[0], ...arguments_: string[]): Promise<Output> {
  const { stdout } = await site.run(...arguments_, '--json');
  expect(flawsOf(type, stdout), stdout).toEqual([]);
  return JSON.parse(stdout);
}

test('a build names the code of each warning about a snippet, and keeps it in the record', async () => {
  expect(output).toMatch(
    /WARN.* Snippet 2 leaves <strong> open, which .* It is on index\.html, written in src\/pages\/index\.astro:4\. \[left-open\]/,
  );
  expect(output).toMatch(/WARN.* Snippet 4 has a link, inside a link\. .* \[invalid-nesting\]/);
  const { snippets } = await json<ListOutput>('ListOutput', 'list');
  const { id: _, ...openFacts } = open;
  const { id: __, ...nestedFacts } = nested;
  const warnings = Object.fromEntries(snippets.map((snippet) => [snippet.id, snippet.warnings]));
  expect(warnings).toEqual({ 1: undefined, 2: [openFacts], 3: undefined, 4: [nestedFacts] });
});

describe('a refresh that writes a snippet with a flaw', () => {
  test('says so in its document, for that snippet alone, and again until it is fixed', async () => {
    service.put(1, 'Shipping is <!-- free');
    const { warnings, written } = await json<RefreshOutput>('RefreshOutput', 'refresh');
    expect(written.map(({ file }) => file)).toEqual(['about/index.html', 'index.html']);
    const hidden = {
      id: 1,
      code: 'left-open',
      message: 'Snippet 1 leaves a comment open, which swallows the rest of the page.',
      line: 1,
      pages: [about, home],
    };
    expect(warnings).toMatchObject([hidden]);
    const listed = await json<ListOutput>('ListOutput', 'list');
    expect(listed.snippets[0]?.warnings).toMatchObject([{ code: 'left-open', pages: [about, home] }]);
    // The others keep theirs.
    const withWarnings = listed.snippets.filter(({ warnings }) => warnings);
    expect(withWarnings.map(({ id }) => id)).toEqual([1, 2, 4]);

    service.put(1, 'Shipping is free');
    expect((await json<RefreshOutput>('RefreshOutput', 'refresh')).warnings).toEqual([]);
    expect((await json<ListOutput>('ListOutput', 'list')).snippets[0]?.warnings).toBeUndefined();
  });

  test('names what is wrong where the snippet stands: a paragraph, a link, a policy', async () => {
    service.put(1, '<ul><li>a list</li></ul>');
    service.put(3, '<script>three()</script>');
    service.put(4, 'no link');
    const { warnings } = await json<RefreshOutput>('RefreshOutput', 'refresh', '--dry-run');
    const found = warnings.map(({ id, code, pages }) => [id, code, pages]);
    expect(found).toEqual(
      expect.arrayContaining([
        [1, 'block-in-paragraph', [home]],
        [3, 'blocked-by-policy', [about]],
      ]),
    );
    expect(found.some(([id]) => id === 2 || id === 4)).toBe(false);
  });

  test('names no page that it does not write', async () => {
    service.put(1, '<!-- open');
    await site.write({ 'dist/index.html': 'written by hand' });
    const refused = await json<RefreshOutput>('RefreshOutput', 'refresh');
    expect(refused).toMatchObject({ exitStatus: 3, written: [], warnings: [] });
    const { warnings } = await json<RefreshOutput>('RefreshOutput', 'refresh', '--skip-modified');
    expect(warnings).toMatchObject([{ id: 1, pages: [about] }]);
  });

  test('says so in the log and in the summary of the job, with the code', async () => {
    service.put(1, 'Shipping is <!-- free');
    const summary = join(site.directory, 'summary.md');
    const environment = { ...service.environment, GITHUB_STEP_SUMMARY: summary };
    const log = await exits(0, cli(site.directory, ['refresh'], environment));
    const line =
      'Snippet 1 leaves a comment open, which swallows the rest of the page. It is on about/index.html, index.html. [left-open]';
    expect(log).toContain(`${line}\n`);
    expect(readFileSync(summary, 'utf8')).toContain(`Updated index.html\n${line}`);
  });
});

test('a check warns of the content that has changed, in its document, its text and its summary', async () => {
  service.put(1, 'one\n<b>two');
  const { warnings } = await json<CheckOutput>('CheckOutput', 'check');
  expect(warnings).toMatchObject([{ id: 1, code: 'left-open', line: 2, pages: [about, home] }]);
  const line =
    'Snippet 1 leaves <b> open, which browsers continue in the rest of the page. It is on about/index.html, index.html. [left-open]';
  const summary = join(site.directory, 'check.md');
  const environment = { ...service.environment, GITHUB_STEP_SUMMARY: summary };
  expect((await cli(site.directory, ['check'], environment)).stdout).toContain(line);
  expect(readFileSync(summary, 'utf8')).toContain(line.replace('<b>', '&lt;b&gt;'));
});

describe('a command is told of warnings in a file:', () => {
  const tell = `node -e "fs.appendFileSync('told', fs.readFileSync(process.env.ASTRO_SNIPPETS_WARNINGS, 'utf8').replace(/\\\\s+/g, ' ') + '\\n')"`;
  const told = () => {
    const lines = readFileSync(join(site.directory, 'told'), 'utf8').trim().split('\n');
    return lines.map((line): Warning[] => JSON.parse(line));
  };
  const summed = (warnings: Warning[] | undefined) =>
    warnings?.map(({ id, code, pages }) => [id, code, pages.map(({ file }) => file)]);
  beforeEach(() => site.write({ told: '' }));

  test('that of --after, what the refresh has written', async () => {
    service.put(3, '<b>three');
    await exits(0, site.run('refresh', '--after', tell));
    expect(summed(told()[0])).toEqual([[3, 'left-open', ['about/index.html']]]);
  });

  test('that of check --exec, what has changed, and what the site shows on other changed files', async () => {
    service.put(2, 'fixed');
    service.put(3, '<b>three');
    await exits(0, site.run('check', '--exec', tell));
    expect(summed(told()[0])).toEqual([[3, 'left-open', ['about/index.html']]]);
  });

  test('that of a watch, with an event for each set of changes', async () => {
    const clock: SteppedClock = steppedClock();
    const watch = ['watch', '--json', '--every', '30s', '--exec', tell];
    const watching = startWatch(site.directory, watch, service.environment, { clock });
    await clock.waiting();
    service.put(1, '<i>Free');
    (await clock.waiting()).end();
    await clock.waiting();
    const events = watching
      .stdout()
      .split('\n')
      .filter(Boolean)
      .map((line): WatchOutput => {
        expect(flawsOf('WatchOutput', line)).toEqual([]);
        return JSON.parse(line);
      });
    const written = events.find(({ event }) => event === 'written');
    expect(written).toMatchObject({
      warnings: [{ id: 1, code: 'left-open', line: 1, pages: [about, home] }],
    });
    expect(summed(told().at(-1))).toEqual([
      [1, 'left-open', ['about/index.html', 'index.html']],
      [2, 'left-open', ['index.html']],
    ]);
  });
});
