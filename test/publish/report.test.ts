import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reportOutput } from '../../src/cli/cli-output.ts';
import { compareWords } from '../../src/cli/report/compare-words.ts';
import { readIds } from '../../src/cli/report/known-ids.ts';
import type { PublishedChanges } from '../../src/cli/report/published-changes.ts';
import { renderReport, reportRows } from '../../src/cli/report/render-report.ts';
import { toRequest } from '../../src/client/snippet-request.ts';
import type { Manifest, ManifestContent } from '../../src/record/manifest.ts';
import { violationsOf } from '../support/accessibility.ts';
import { startBrowser } from '../support/browser.ts';
import { startCommand } from '../support/command.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite } from '../support/site.ts';

const content = (hash: string, bytes = 10, milliseconds = 1): ManifestContent => ({
  hash,
  variant: 'render',
  fetchedAt: Date.UTC(2030, 0, 2, 3, 4),
  bytes,
  milliseconds,
});

const kind = (snippet: number) => ({
  snippet,
  length: 0,
  form: { as: 'html' as const, layers: [] },
});

function manifestOf(more: Partial<Manifest>): Manifest {
  return {
    builtAt: '2030-01-02T03:04:05.000Z',
    output: '../dist',
    settings: { concurrency: 20 },
    rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
    snippets: [],
    kinds: [],
    files: [],
    collections: [],
    ...more,
  };
}

describe('the rows of the report', () => {
  const snippets = [{ id: 1, params: '{"plan":"pro"}', content: content('new') }];
  const at = '2030-01-01T00:00:00.000Z';
  const was = (id: number, params: string | undefined, hash: string | undefined) => ({
    at,
    snippets: [{ id, params, hash }],
  });
  test.each<[string, Manifest['before'], string[]]>([
    ['without an earlier build', undefined, ['unknown']],
    ['with the same content', was(1, '{"plan":"pro"}', 'new'), ['same']],
    ['with another content', was(1, '{"plan":"pro"}', 'old'), ['changed']],
    ['without content in the earlier build', was(1, '{"plan":"pro"}', undefined), ['changed']],
    ['with other params', was(1, undefined, 'new'), ['added', 'gone']],
    ['with another snippet', was(2, undefined, 'new'), ['added', 'gone']],
  ])('a snippet %s: %j', (_what, before, changes) => {
    expect(reportRows(manifestOf({ snippets, before })).map(({ change }) => change)).toEqual(changes);
  });

  test('name a page once that shows a snippet twice', () => {
    const kinds = [kind(0)];
    const files = [
      { name: 'a.html', hash: '', places: [0, 0, 0, 0] },
      { name: 'b.html', hash: '', places: [0, 0] },
    ];
    expect(reportRows(manifestOf({ snippets, kinds, files }))[0]?.shown.pages).toEqual(['a.html', 'b.html']);
  });
});

describe('compared word by word,', () => {
  const long = 'a word and another '.repeat(20).trim();
  test.each<[string, string, string, string[]]>([
    [
      'a word that changes is removed and added',
      'the old text',
      'the new text',
      ['the ', '-old', '+new', ' text'],
    ],
    ['words that are only added stand alone', 'one', 'one two', ['one', '+ two']],
    [
      'of a long text that stays, the words beside the change are shown',
      `${long} old`,
      `${long} new`,
      [expect.stringMatching(/^… (a word and another ?){1,6}$/), '-old', '+new'],
    ],
    ['a text that is gone is removed', 'old', '', ['-old']],
    ['equal texts are one part', 'same', 'same', ['same']],
  ])('%s', (_name, before, after, expected) => {
    const marks = { same: '', removed: '-', added: '+' };
    expect(compareWords(before, after).map(({ kind, text }) => marks[kind] + text)).toEqual(expected);
  });

  test('texts with too little in common are replaced as a whole, and cut', () => {
    const words = (letter: string) =>
      Array.from({ length: 3_000 }, (_, index) => `${letter}${index}`).join(' ');
    const parts = compareWords(words('a'), words('b'));
    expect(parts.map(({ kind }) => kind)).toEqual(['removed', 'added']);
    for (const { text } of parts) expect(text).toMatch(/^[ab]0 .{3000,4000}…$/);
  });

  test('a text is never cut between the halves of a surrogate pair', () => {
    for (const padding of ['', 'x']) {
      const parts = compareWords(`${padding}${'😀'.repeat(300)} old`, `${padding}${'😀'.repeat(300)} new`);
      for (const { text } of parts) expect(text.isWellFormed()).toBe(true);
    }
  });
});

describe('--ids', () => {
  let folder: Folder;
  beforeEach(async () => {
    folder = await createFolder({
      'ids.txt': '\ufeff43, 41\r\n42\n\n41\n',
      'empty.txt': '\n',
      '.env': 'SNIPPETS_API_KEY=sk_secret\n',
      'names.csv': '41\n42,Price card\n',
      'sub/x': '',
    });
    return () => folder.remove();
  });
  const read = (text: string) =>
    readIds(text, (message) => {
      throw new Error(message);
    });

  test.each([
    ['42', [42]],
    ['43,41, 42,41', [41, 42, 43]],
  ])('%j is a list of ids', async (text, ids) => {
    expect(await read(text)).toEqual(ids);
  });

  test('a file has ids on its lines, each of which counts once', async () => {
    expect(await read(join(folder.directory, 'ids.txt'))).toEqual([41, 42, 43]);
  });

  test.each([
    ['', '--ids: expected ids, such as 42,43, or the name of a file.'],
    [',', '--ids: expected ids, such as 42,43, or the name of a file.'],
    ['0', '--ids: 0 is not a snippet id.'],
    ['42,99999999999999999', '--ids: 99999999999999999 is not a snippet id.'],
  ])('the list %j is refused: %s', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  test.each([
    ['nowhere.txt', 'is not a list of ids, and as a file it could not be read: ENOENT.'],
    ['sub', 'is not a list of ids, and as a file it could not be read: EISDIR.'],
    ['empty.txt', 'contains no ids.'],
    ['names.csv', 'contains something else than snippet ids.'],
  ])('the file %s is refused: %s', async (name, message) => {
    await expect(read(join(folder.directory, name))).rejects.toThrow(message);
  });

  test('the line of a file that is refused is named and not quoted', async () => {
    const error = (await read(join(folder.directory, '.env')).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toMatch(/^--ids: line 1 of \S+\.env contains something else than snippet ids\.$/);
  });
});

describe('the HTML page of the report', () => {
  let browser: Browser;
  let page: Page;
  let folder: string;
  let url: string;
  const requests: string[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'snippets-report-'));
    const file = join(folder, 'report.html');
    url = pathToFileURL(file).href;
    const long = 'a-page-with-a-very-long-name-in-one-piece/'.repeat(4);
    const manifest = manifestOf({
      snippets: [
        { id: 2, params: undefined, content: content('two', 900, 9) },
        {
          id: 10,
          params: '{"name":"<img src=https://evil.test/x onerror=alert(1)>\u202e"}',
          content: content('ten', 12_345, 70),
        },
        { id: 3, params: undefined, content: undefined },
      ],
      kinds: [kind(0), kind(1), kind(2)],
      files: [
        { name: `${long}index.html`, hash: '', places: [0, 0, 1, 0] },
        { name: '<script>alert(1)</script>.html', hash: '', places: [1, 0, 2, 0] },
      ],
      before: { at: '2030-01-01T00:00:00.000Z', snippets: [{ id: 2, params: undefined, hash: 'was' }] },
    });
    await writeFile(file, renderReport(manifest));
    browser = await startBrowser();
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('dialog', (dialog) => {
      problems.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(url);
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  const column = (label: string) =>
    page
      .locator(`td[data-label="${label}"]`)
      .evaluateAll((cells) => cells.map((cell) => cell.textContent?.trim()));

  test('makes no requests and follows its own Content Security Policy', async () => {
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(requests).toEqual([url]);
    expect(problems).toEqual([]);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('shows totals, and when and from where each snippet was fetched', async () => {
    const terms = await page.locator('dt').allTextContents();
    const values = await page.locator('dd').allTextContents();
    expect(Object.fromEntries(terms.map((term, index) => [term, values[index]]))).toEqual({
      Snippets: '3',
      'Pages with snippets': '2',
      Embeds: '4',
      'Total size': '13.2kB',
      Slowest: '70ms',
      'New, changed or gone': '3',
    });
    expect(await page.locator('p.quiet').first().textContent()).toMatch(
      /^Built on 2030-01-02 03:04 UTC\.\s+Changes since 2030-01-01 00:00 UTC\.$/,
    );
    expect(await column('Fetched')).toEqual(['2030-01-02 03:04 UTC', '2030-01-02 03:04 UTC', '–']);
    expect(await column('Variant')).toEqual(['render', 'render', 'children shown']);
    // A mark that changes the direction of text would also change the text after it.
    const [, ten] = await column('Snippet');
    expect(ten).toContain('<img src=https://evil.test/x onerror=alert(1)>');
    expect(ten).not.toContain('\u202e');
  });

  test('sorts by each column, numerically where it has numbers, in both directions', async () => {
    expect(await column('Size')).toEqual(['900B', '12.3kB', '–']);
    await page.getByRole('button', { name: 'Size' }).click();
    expect(await column('Size')).toEqual(['–', '900B', '12.3kB']);
    expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('Size');
    await page.getByRole('button', { name: 'Size' }).click();
    expect(await column('Size')).toEqual(['12.3kB', '900B', '–']);
    await page.getByRole('button', { name: 'Snippet' }).click();
    expect(await page.locator('th[aria-sort]:not([aria-sort="none"])').allTextContents()).toEqual([
      'Snippet',
    ]);
    expect((await column('Snippet')).map((cell) => cell?.split(' ')[0])).toEqual(['2', '3', '10']);
    expect(await column('Change')).toEqual(['changed', 'added', 'added']);
  });

  test('without --diff, says that the service was not asked what was published since', async () => {
    expect(await page.getByText('Not known: the service was not asked.').count()).toBe(1);
  });

  describe('with what was published since, and unused ids,', () => {
    const request = toRequest(10, '{"plan":"pro"}');
    const change = (pages: string[], before: string, after: string) => ({
      request,
      pages,
      before,
      after,
      patch: '',
    });
    const script = '<script>alert(1)</script>';
    const word = 'averylongword'.repeat(30);
    const published: PublishedChanges = {
      at: '2030-01-03T00:00:00.000Z',
      changed: [
        {
          ...{ request, isMissing: false, newHash: 'new' },
          ...{ pages: ['a/index.html', 'feed.xml'], collections: [{ collection: 'legal', entry: script }] },
          diffs: [
            change(['a/index.html'], `<p>old ${script}</p>`, `<p>new ${script}</p>`),
            change(['feed.xml'], word, `${word}${word}`),
          ],
        },
        {
          ...{ request: toRequest(2, undefined), isMissing: true, newHash: undefined },
          ...{ pages: ['b.html'], collections: [], diffs: [] },
        },
      ],
      notCompared: [{ name: `legal (collection), entry "${script}"`, reason: 'shows a changed snippet' }],
    };
    const unusedIds = [7, Number.MAX_SAFE_INTEGER, ...Array.from({ length: 2_000 }, (_, id) => id + 10)];
    const urls = { site: 'https://example.com', base: '/', trailingSlash: 'ignore' as const };

    beforeAll(async () => {
      const file = join(folder, 'full.html');
      const manifest = manifestOf({
        snippets: [{ id: 10, params: '{"plan":"pro"}', content: content('ten') }],
        urls,
        kinds: [kind(0)],
        files: ['a/index.html', 'feed.xml'].map((name) => ({ name, hash: '', places: [0, 0] })),
        collections: [{ collection: 'legal', entry: script, snippet: 0, content: 'ten' }],
      });
      await writeFile(file, renderReport(manifest, { published, unusedIds }));
      await page.goto(pathToFileURL(file).href);
    });
    afterAll(() => page.goto(url));

    test('marks what is removed and what is added', async () => {
      expect(await page.locator('del').allTextContents()).toEqual(['old', word]);
      expect(await page.locator('ins').allTextContents()).toEqual(['new', word + word]);
      expect(await page.locator('pre').first().textContent()).toBe(`<p>oldnew ${script}</p>`);
      expect(await page.getByRole('region').first().textContent()).toContain('On a/index.html:');
    });

    test('says what it cannot know, and what no longer exists', async () => {
      const [first, second] = await page.locator('section').allTextContents();
      expect(first).toContain('Not all of its places could be compared: see below.');
      expect(second).toContain('It no longer exists.');
      const line = `legal (collection), entry "${script}" shows a changed snippet`;
      expect(await page.getByText(line).count()).toBe(1);
    });

    test('counts pages, feeds and collection entries, and links to what has a URL', async () => {
      expect(await column('Shown on')).toEqual([
        expect.stringContaining('1 page, 1 other file, and 1 collection entry'),
      ]);
      const links = page.locator('td a');
      expect(await links.allTextContents()).toEqual(['a/index.html', 'feed.xml']);
      expect(await links.first().getAttribute('href')).toBe('https://example.com/a/');
    });

    test('lists a thousand unused ids, and counts the rest', async () => {
      expect(await page.locator('.ids li').count()).toBe(1_000);
      expect(await page.getByText('The site does not show 2002 snippets of the list.').count()).toBe(1);
      expect(await page.getByText('and 1002 more: astro-snippets report --ids … --json').count()).toBe(1);
    });

    describeOnScreens();
  });

  function describeOnScreens(): void {
    test.each(
      [
        ['a desktop', { width: 1280, height: 800 }],
        ['a phone', { width: 390, height: 844 }],
      ].flatMap(([device, size]) =>
        (['light', 'dark'] as const).map((colorScheme) => [device, colorScheme, size] as const),
      ) as [string, 'light' | 'dark', { width: number; height: number }][],
    )('is accessible and fits the screen on %s in %s colours', async (_what, colorScheme, size) => {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true');
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await violationsOf(page)).toBe('');
    });
  }
  describeOnScreens();
});

test('astro-snippets report compares the last two builds', async () => {
  const service = await startTestService({ 1: 'first', 2: 'stays', 3: 'goes' });
  const site = await createSite({
    'src/pages/index.html':
      '<p><snippet-embed id="1"></snippet-embed><snippet-embed id="2"></snippet-embed></p>',
    'src/pages/old.html': '<p><snippet-embed id="3"></snippet-embed></p>',
  });
  try {
    await site.build(service.environment);
    await rm(join(site.directory, 'src/pages/old.html'));
    // Six bytes, and five characters.
    service.put(1, 'zwölf');
    await site.build(service.environment);
    const { exitCode, output } = await startCommand(site.directory, ['report'], {}).ended;
    expect(exitCode).toBe(0);
    expect(output).toBe(`${join(site.directory, 'snippets-report.html')}\n`);
    const html = await readFile(output.trim(), 'utf8');
    const year = new Date().getUTCFullYear();
    expect(html).toContain('data-sort="6">6B<');
    expect(html.match(new RegExp(`data-label="Fetched" class="time">${year}-`, 'g'))).toHaveLength(2);
    expect(html.match(/class="changed"/g)).toHaveLength(1);
    expect(html.match(/class="same"/g)).toHaveLength(1);
    expect(html.match(/class="gone"/g)).toHaveLength(1);
    expect(html).toContain('<dt>New, changed or gone</dt><dd>2</dd>');
    expect(html).toContain('<li>index.html</li>');
  } finally {
    await site.remove();
    await service.close();
  }
});

test('astro-snippets report compares with the build after a refresh, and says when it was', async () => {
  const service = await startTestService({ 1: 'first', 2: 'stays' });
  const site = await createSite({
    'src/pages/index.html':
      '<p><snippet-embed id="1"></snippet-embed><snippet-embed id="2"></snippet-embed></p>',
  });
  try {
    await site.build(service.environment);
    const run = (name: string) => startCommand(site.directory, [name], service.environment).ended;
    const reported = async () => {
      await run('report');
      return readFile(join(site.directory, 'snippets-report.html'), 'utf8');
    };
    const before = await reported();
    expect(before).toContain('This is the first build on record, so changes are unknown.');
    expect(before).toContain('<dd>–</dd>');
    expect(before).not.toContain('refreshed on');
    service.put(1, 'the second');
    expect((await run('refresh')).exitCode).toBe(0);
    const after = await reported();
    expect(after).toMatch(/Built on [^<]* UTC, refreshed on \d{4}-\d\d-\d\d \d\d:\d\d UTC\./);
    expect(after).toMatch(/Changes since \d{4}-\d\d-\d\d \d\d:\d\d UTC\./);
    expect(after.match(/class="changed"/g)).toHaveLength(1);
    expect(after.match(/class="same"/g)).toHaveLength(1);
    expect(after).toContain('data-sort="10">10B<');
  } finally {
    await site.remove();
    await service.close();
  }
});

test('astro-snippets report lists 200 pages of a snippet and counts the rest', async () => {
  const service = await startTestService({ 1: 'everywhere' });
  const site = await createSite({
    'src/pages/[page].astro': `---
export const getStaticPaths = () => Array.from({ length: 203 }, (_, page) => ({ params: { page: 'p' + page } }));
---
<p><snippet-embed id="1"></snippet-embed></p>`,
  });
  try {
    expect((await site.build(service.environment)).exitCode).toBe(0);
    await startCommand(site.directory, ['report'], {}).ended;
    const html = await readFile(join(site.directory, 'snippets-report.html'), 'utf8');
    expect(html).toContain('203 pages');
    expect(html.match(/<li>p\d+\/index\.html<\/li>/g)).toHaveLength(200);
    expect(html).toContain('and 3 more: astro-snippets list');
  } finally {
    await site.remove();
    await service.close();
  }
});

describe('astro-snippets report, of a folder of files,', () => {
  let service: TestService;
  let folder: Folder;
  beforeAll(async () => {
    service = await startTestService({ 1: 'first', 2: 'stays' });
  });
  beforeEach(async () => {
    service.clearFaults();
    service.put(1, 'the first text');
    folder = await createFolder({
      'dist/index.html':
        '<title><snippet-embed id="1"></snippet-embed></title><p><snippet-embed id="1"></snippet-embed></p><p><snippet-embed id="2"></snippet-embed></p>',
      'dist/feed.xml': '<rss><title>&lt;snippet-embed id="1"&gt;&lt;/snippet-embed&gt;</title></rss>',
      'ids.txt': '1\n2\n3\n',
    });
    const inlined = await run('inline', 'dist');
    expect(inlined.exitCode, inlined.output).toBe(0);
    return () => folder.remove();
  });
  afterAll(() => service.close());

  const run = async (...arguments_: string[]) => {
    const command = startCommand(folder.directory, arguments_, service.environment);
    const { exitCode } = await command.ended;
    return { exitCode, output: command.output(), stdout: command.stdout(), stderr: command.stderr() };
  };
  const readReport = () => folder.read('snippets-report.html');
  const json = async (...arguments_: string[]) =>
    reportOutput.parse(JSON.parse((await run('report', '--json', ...arguments_)).stdout));

  test('lists the ids of a file that the site does not show, without asking the service', async () => {
    const before = service.requests().length;
    expect((await run('report', '--ids', 'ids.txt')).exitCode).toBe(0);
    expect(await readReport()).toContain('<ul class="ids"><li>3</li>\n</ul>');
    expect((await json('--ids', '3,2,9')).unusedIds).toEqual([3, 9]);
    expect((await json('--ids', '1,2')).unusedIds).toEqual([]);
    expect((await json()).unusedIds).toBeUndefined();
    expect(service.requests().length).toBe(before);
  });

  test('with ids that cannot be read, exits with 2, says why, and writes no page', async () => {
    const { exitCode, stderr } = await run('report', '--ids', 'nowhere.txt');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      '--ids: nowhere.txt is not a list of ids, and as a file it could not be read: ENOENT.',
    );
    expect(Object.keys(await folder.files())).not.toContain('snippets-report.html');
  });

  test('with --diff, shows how the text of each place changes, and leaves the site as it is', async () => {
    const site = await folder.files('dist');
    service.put(1, 'the second text');
    expect((await run('report', '--diff')).exitCode).toBe(0);
    const html = await readReport();
    expect(html).toContain('the <del>first</del><ins>second</ins> text');
    expect(html).not.toContain('Snippet 2 <');
    expect(await folder.files('dist')).toEqual(site);
    const { published, totals } = await json('--diff');
    expect(published).toMatchObject({ changed: [{ id: 1, newHash: expect.any(String) }], notCompared: [] });
    expect(published?.changed[0]?.pages.map(({ file }) => file).toSorted()).toEqual([
      'feed.xml',
      'index.html',
    ]);
    expect(published?.changed[0]?.diffs.map(({ patch }) => patch).join('')).toContain('+the second text');
    expect(totals.changed).toBe(0);
  });

  test('with --diff, says that nothing was published since, and without it that this is not known', async () => {
    await run('report', '--diff');
    expect(await readReport()).toContain('Nothing: the site shows what is published.');
    expect((await json('--diff')).published).toMatchObject({ changed: [], notCompared: [] });
    expect((await json()).published).toBeUndefined();
  });

  test('with --diff, names a page whose text is not known, and why', async () => {
    service.put(1, 'the second text');
    await folder.write({ 'dist/index.html': 'minified' });
    await run('report', '--diff');
    expect(await readReport()).toContain('<li>index.html was changed after the build</li>');
    const { published } = await json('--diff');
    expect(published?.notCompared).toEqual([{ name: 'index.html', reason: 'was changed after the build' }]);
    expect(published?.changed[0]?.diffs.flatMap(({ pages }) => pages)).toMatchObject([{ file: 'feed.xml' }]);
  });

  test('with --diff, while the service is down, exits with 1 and writes no page', async () => {
    Object.assign(service.faults, { failing: 1, failingStatus: 503 });
    const { exitCode, stderr } = await run('report', '--diff');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('503');
    expect(Object.keys(await folder.files())).not.toContain('snippets-report.html');
  });

  test('with --diff, the API key is not shown, even where a comparison by words would cut it', async () => {
    const key = service.environment.SNIPPETS_API_KEY;
    const half = key.slice(0, key.indexOf('_') + 5);
    service.put(1, `the ${half} text with ${key} in it`);
    const { output } = await run('report', '--diff');
    const shown = output + (await readReport()) + JSON.stringify(await json('--diff'));
    expect(shown).toContain('[API key]');
    expect(shown).not.toContain(key);
    expect(shown.replace(/<[^>]*>/g, '')).not.toContain(key);
  });
});
