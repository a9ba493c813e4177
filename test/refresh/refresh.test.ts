import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { imageHost } from '../support/http/image-host.ts';
import { virtualClock } from '../support/service/clock.ts';
import { copyOfEverything, type Everything } from '../support/site/everything.ts';
import { folderWith } from '../support/site/folder.ts';
import { changeRecord } from '../support/site/records.ts';
import { cli, type RunningCli, startCli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

let site: Everything;

beforeEach(async () => {
  site = await copyOfEverything();
});

const output = () => site.contents('dist');

describe('astro-snippets check', () => {
  test('exits with 1 and the reason if the subscription has expired or the key is missing', async () => {
    const { service, directory } = site;
    const without = await cli(directory, ['check'], { ...service.environment, SNIPPETS_API_KEY: '' });
    expect(without).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('SNIPPETS_API_KEY is not set'),
    });
    service.store.organizations.setSubscription(service.organizationId, 'expired');
    expect(await exits(1, site.run('check'))).toContain('402 Payment Required [payment-required]');
  });

  test.for([1, 30])(
    'of %i snippets says within 5 s that a port refuses connections, and gives up within 20 s',
    async (count) => {
      const ids = Array.from({ length: count }, (_, index) => index + 10);
      const embeds = ids.map((id) => `<snippet-embed id="${id}"></snippet-embed>`);
      const folder = await folderWith({ 'dist/index.html': `<div>${embeds.join('')}</div>` });
      for (const id of ids) site.service.put(id, 'text');
      const { environment } = site.service;
      await cli(folder.directory, ['inline', 'dist'], environment);
      const virtual = virtualClock({ quietFor: 50 });
      let saidAfter = Number.POSITIVE_INFINITY;
      const clock = {
        ...virtual,
        // For the waits between attempts.
        random: () => 0.5,
        now() {
          if (checking?.stderr().includes('ECONNREFUSED'))
            saidAfter = Math.min(saidAfter, virtual.advanced());
          return virtual.now();
        },
      };
      const nobody = { SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9', SNIPPETS_RETRIEVE_BASE_URL: '' };
      let checking: RunningCli | undefined;
      checking = startCli(folder.directory, ['check'], { ...environment, ...nobody }, { clock });
      const output = await exits(1, checking.ended);
      expect(output).toContain('ECONNREFUSED');
      expect(Math.min(saidAfter, virtual.advanced())).toBeLessThan(5_000);
      expect(virtual.advanced()).toBeLessThan(20_000);
      expect(output).toContain(`${count === 1 ? '1 snippet' : `${count} snippets`} could not be fetched.`);
      expect(output).toMatch(
        /The service at https:\/\/127\.0\.0\.1:9 fails for every request: connect ECONNREFUSED 127\.0\.0\.1:9\. It is tried for 12s, until \d\d:00:12\.\n/,
      );
      expect(output).toContain('no request has succeeded for 12s');
    },
  );
});

test('astro-snippets get prints a snippet as a build gets it, or why it could not be fetched', async () => {
  const output = await exits(0, site.run('get', '8', '--params', '{"plan":"pro"}'));
  expect(output).toMatch(/^render · \d+(\.\d+)?m?s · 4B · 1 request\npro $/);
  expect(await exits(1, site.run('get', '999'))).toContain(
    '404 Not Found: There is no published snippet 999 in this organization. [not-found]',
  );
});

test('a refresh gives the same bytes as a full build when all snippets have changed', async () => {
  const published = () => site.decoded('dist', '.vercel/output/static');
  const code = '<style>i { color: blue }</style><script>document.title = "six"</script>';
  const pictures = ['hero.png', 'late.jpg'].map(
    (name) => `<img alt="" src="https://${imageHost()}/${name}">`,
  );
  // Each id with its new content and the text on the pages.
  const changes = [
    [1, '<section>the woozle $& $1</section>', '<section>the woozle $& $1</section>'],
    [2, ''],
    [3, '<i>"c"</i> &lt;d', '"name":"\\"c\\" \\u003cd"', 'title="&quot;c&quot; &lt;d"'],
    [4, pictures.join(''), 'width="60" height="40"'],
    [5, code, code],
    [6, '<i>published since</i>', '<p><i>published since</i></p>'],
    [8, '{{ locale }} {{ plan }}!', ' pro!', 'de pro!'],
    [9, '<a href="/">home</a>', '<a href="/docs/">home</a>'],
  ] as const;
  for (const [id, content] of changes) site.service.put(id, content);
  await exits(0, site.run('refresh'));
  const refreshed = await published();
  for (const text of changes.flatMap(([, , ...shown]) => shown)) {
    // The page, its compressed files, and copies of these.
    const showing = [...refreshed.values()].filter((content) => content.includes(text));
    expect(showing.length, text).toBeGreaterThanOrEqual(8);
  }
  expect(await site.run('check')).toMatchObject({ exitCode: 0 });

  // A build ignores a record of another version, and replaces it.
  await changeRecord(site.record, (record) => {
    return { ...record, version: record.version + 1, snippets: [{ id: 777 }] };
  });
  await site.builds(site.service.environment);
  expect(refreshed).toEqual(await published());
  expect((await site.run('list')).output).not.toContain('777');
});

describe('astro-snippets refresh', () => {
  // Windows has no file modes.
  test.skipIf(process.platform === 'win32')(
    'keeps the permissions of files, and removes what a killed refresh left',
    async () => {
      const files = ['dist/index.html', 'dist/index.html.gz', '.vercel/output/static/index.html'];
      const modes = () =>
        Promise.all(files.map(async (file) => (await stat(join(site.directory, file))).mode & 0o777));
      await Promise.all(files.map((file) => chmod(join(site.directory, file), 0o644)));
      await site.write({ 'dist/_astro/a.png.snippets.tmp': 'half an image' });
      const umask = process.umask(0o077);
      onTestFinished(() => void process.umask(umask));
      site.service.put(1, 'the woozle');
      expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
      expect(await modes()).toEqual([0o644, 0o644, 0o644]);
      expect(await site.list()).not.toContain('_astro/a.png.snippets.tmp');
    },
  );

  test('writes nothing if a snippet fails', async () => {
    site.service.put(1, 'new');
    Object.assign(site.service.faults, { failing: 1, failingStatus: 500, only: [2] });
    const before = await output();
    const refreshing = site.start(['refresh'], { clock: virtualClock() });
    expect(await exits(1, refreshing.ended)).toContain('Snippet 2: 500 Internal Server Error [server-error]');
    expect(await output()).toEqual(before);
  });

  test('writes nothing if a page was changed after the build, or only the other pages with --skip-modified', async () => {
    site.service.put(1, 'the woozle');
    site.service.put(2, 'about them');
    await writeFile(join(site.directory, 'dist/about.html'), 'minified');
    const before = await output();
    const reason = 'was changed after the build, and does not show what the record says';
    expect(await exits(3, site.run('refresh'))).toBe(
      `about.html ${reason}\nNothing was written. Build the site, or update the other pages with --skip-modified.\n`,
    );
    expect(await output()).toEqual(before);
    expect(await exits(3, site.run('refresh', '--dry-run'))).toContain(
      '\nNothing would be written. Build the site, or update the other',
    );
    expect(await exits(3, site.run('refresh', '--skip-modified'))).toContain(
      '\nBuild the site to update these pages too.\n',
    );
    expect(await site.read('index.html')).toContain('woozle');
    expect((await output()).get('dist/about.html')).toEqual(before.get('dist/about.html'));
  });

  test('--dry-run shows each change once, without control characters, and writes nothing', async () => {
    site.service.put(1, 'the <b>woozle</b>\n\u001b[31m<i>\u202egnp</i>');
    site.service.put(3, 'c & d');
    const before = await output();
    const said = await exits(0, site.run('refresh', '--dry-run'));
    expect(said).toContain(`Snippet 1, on 3 pages
    --- on the site
    +++ published
    @@ -1,1 +1,2 @@
    -the heffalump
    +the <b>woozle</b>
    +<i>gnp</i>
`);
    // With and without params.
    expect(said.split('\n').filter((line) => line === '    +c & d')).toHaveLength(2);
    expect(said).toContain('\nindex.html would be written\n');
    expect(await output()).toEqual(before);
  });

  test.for([
    [4_000, 4_001, 'Too different to compare line by line: 4000 lines before, 4001 lines after.\n'],
    [400, 400, '+new 399'],
  ] as const)('--dry-run compares %i rewritten lines only if that is fast', async ([before, after, said]) => {
    const folder = await folderWith({
      'dist/a.html': '<div><snippet-embed id="1"></snippet-embed></div>',
    });
    const lines = (word: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${word} ${index}`).join('\n');
    const run = (...arguments_: string[]) => cli(folder.directory, arguments_, site.service.environment);
    site.service.put(1, lines('old', before));
    await run('inline', 'dist');
    site.service.put(1, lines('new', after));
    expect((await run('refresh', '--dry-run')).stdout).toContain(said);
  });
});

test('a refresh makes a paragraph with attributes a <div> where its snippet is a block now, as `inline` does', async () => {
  const { service } = site;
  const page = '<a href="#offer">Offer</a><p id="offer"><snippet-embed id="71"></snippet-embed></p>';
  const { directory, read } = await folderWith({ 'dist/index.html': page });
  const run = (command: string, ...rest: string[]) =>
    exits(0, cli(directory, [command, ...rest], service.environment));
  const shown = (tag: string, content: string) =>
    `<a href="#offer">Offer</a><${tag} id="offer">${content}</${tag}>`;

  service.put(71, 'text');
  await run('inline', 'dist');
  expect(await read('dist/index.html')).toBe(shown('p', 'text'));
  service.put(71, '<ul><li>block</ul>');
  await run('refresh');
  expect(await read('dist/index.html')).toBe(shown('div', '<ul><li>block</ul>'));
  service.put(71, 'text again');
  await run('refresh');
  expect(await read('dist/index.html')).toBe(shown('p', 'text again'));
});

test('a refresh warns of content that does not fit where it stands now, as `inline` does', async () => {
  const { service } = site;
  const page = '<form>\n<snippet-embed id="72"></snippet-embed></form>';
  const { directory } = await folderWith({ 'dist/index.html': page, 'dist/about.html': page });
  const run = (command: string, ...rest: string[]) =>
    exits(0, cli(directory, [command, ...rest], service.environment));
  const warning =
    'Snippet 72 has a form, inside a form. A browser ignores its start tag, and its end tag ends the outer form. Put the embed outside of the form. It is on about.html:2, index.html:2. [invalid-nesting]';

  service.put(72, '<form><input></form>');
  expect(await run('inline', 'dist')).toContain(warning);
  service.put(72, '<input>');
  expect(await run('refresh')).not.toContain('Snippet 72 has');
  service.put(72, '<form><input type="email"></form>');
  expect(await run('refresh')).toContain(warning);
});
