import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { trustedServer } from '../support/http/wire.ts';
import { temporaryService } from '../support/service/service.ts';
import { copyOfEverything } from '../support/site/everything.ts';
import { configWith, pageWith, temporarySite } from '../support/site/site.ts';

test('astro-snippets report compares with the previous build, also after a refresh, and says when that was', async () => {
  const site = await copyOfEverything();
  const report = async () => {
    const { exitCode, output } = await site.run('report');
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: `${site.directory}/snippets-report.html\n` });
    return readFile(join(site.directory, 'snippets-report.html'), 'utf8');
  };
  const changesOf = (html: string) => {
    const changes = Array.from(
      html.matchAll(/<tr role="row" class="(changed|same|gone|added)"/g),
      ([, change = '']) => change,
    );
    return Object.fromEntries(
      [...new Set(changes)].map((one) => [one, changes.filter((other) => other === one).length]),
    );
  };
  const before = await report();
  expect(before).toContain('This is the first build on record, so changes are unknown.');
  expect(before).toContain('<dd>–</dd>');
  expect(before).not.toContain('refreshed on');

  // A page with the same snippet twice is named once.
  const { snippets } = JSON.parse((await site.run('report', '--json')).stdout);
  const third = snippets.find(({ id, params }: { id: number; params?: string }) => id === 3 && !params);
  expect(third.pages.map(({ file }: { file: string }) => file)).toEqual([
    'about.html',
    'index.html',
    'rss.xml',
  ]);

  // Six bytes, five characters.
  site.service.put(1, 'zwölf');
  await site.run('refresh');
  const refreshed = await report();
  const time = '<time datetime="[\\d-]{10}T[\\d:.]+Z">\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC</time>';
  expect(refreshed).toMatch(new RegExp(`Built on ${time}, refreshed on ${time}\\.`));
  expect(refreshed).toMatch(new RegExp(`Changes since ${time}\\.`));
  expect(changesOf(refreshed)).toEqual({ changed: 1, same: 10 });
  expect(refreshed).toMatch(/data-text="zwölf" .*data-bytes="6"/);
  expect(refreshed).toContain('· 6B');

  await rm(join(site.directory, 'src/pages/about.astro'));
  const other = '<snippet-embed id="8" params=\'{"plan":"basic"}\'></snippet-embed>';
  await site.write({ 'src/pages/plain.astro': other });
  site.service.put(9, 'other words');
  site.service.put(6, 'published since');
  await site.builds(site.service.environment);
  const built = await report();
  // Snippets 2 and 5 were only on that page, and 8 has other params.
  expect(changesOf(built)).toEqual({ changed: 2, same: 7, gone: 2, added: 1 });
  expect(built).toContain('<dt>New, changed or gone</dt><dd>5</dd>');
  expect(built).toMatch(/<li>(<a [^>]*>)?[\w/]*\/words\b/);
});

describe('what people know a snippet by', () => {
  const edited = (editUrl: string) => ({
    'astro.config.mjs': configWith(`{ editUrl: ${editUrl} }`, { settings: `site: 'https://shop.test',` }),
    'src/pages/index.astro': pageWith(
      '<p><Snippet id={1} /><Snippet id={2} /><Snippet id={9} optional>none</Snippet></p>',
    ),
  });
  const contents = { 1: `<p>Free &amp; fast:&nbsp;</p><p>${'é'.repeat(100)}</p>`, 2: '<img src="a.png">' };

  test.for<[what: string, editUrl: string, links: (string | undefined)[]]>([
    [
      'absolute URLs',
      '(id) => "https://edit.test/" + id',
      ['https://edit.test/1', 'https://edit.test/2', 'https://edit.test/9'],
    ],
    [
      'paths of the site',
      '(id) => "/edit/" + id',
      ['https://shop.test/edit/1', 'https://shop.test/edit/2', 'https://shop.test/edit/9'],
    ],
    ['a function that fails', '() => { throw new Error("no") }', [undefined, undefined, undefined]],
    ['code', '(id) => "javascript:alert(" + id + ")"', [undefined, undefined, undefined]],
  ])('is its text, and where it is edited: with %s', async ([, editUrl, links]) => {
    const service = await temporaryService(contents);
    const site = await temporarySite(edited(editUrl), service);
    await site.builds(service.environment);
    const { snippets } = JSON.parse((await site.run('report', '--json')).stdout);
    expect(snippets.map((snippet: { editUrl?: string }) => snippet.editUrl)).toEqual(links);
    const [first, second, third] = snippets.map((snippet: { text?: string }) => snippet.text);
    expect([...first]).toHaveLength(80);
    expect(first).toMatch(/^Free & fast:\u00a0 é+…$/);
    expect([second, third]).toEqual([undefined, undefined]);

    expect((await site.run('report')).exitCode).toBe(0);
    const html = await readFile(join(site.directory, 'snippets-report.html'), 'utf8');
    expect(html).toContain('No text, such as an image or a script.');
    expect(html).toContain('Not found. Pages show what is written in the embed.');
    // Without a link, there is no empty column.
    expect(html.includes('scope="col">Edit<')).toBe(links[0] !== undefined);
    expect(html.match(/href="[^"]*edit[^"]*"/g) ?? []).toHaveLength(links.filter(Boolean).length);
    expect(html).not.toContain('javascript:');
  });

  test('is its name, where retrieving has sent one', async () => {
    const service = await temporaryService(contents);
    const site = await temporarySite(edited('(id) => "/edit/" + id'), service);
    const named = await trustedServer((request, response) => {
      const id = Number(request.url.split('/').at(-1));
      if (id === 9)
        return void response
          .writeHead(404, { 'content-type': 'application/problem+json' })
          .end(JSON.stringify({ status: 404, title: 'Not Found' }));
      response.end(
        JSON.stringify({ id, name: id === 1 ? '<b>Free & "fast"</b>' : `Snippet ${id}`, content: 'text' }),
      );
    });
    await site.builds({
      ...service.environment,
      SNIPPETS_RENDER_BASE_URL: '',
      SNIPPETS_RETRIEVE_BASE_URL: named,
    });
    expect((await site.run('report')).exitCode).toBe(0);
    const html = await readFile(join(site.directory, 'snippets-report.html'), 'utf8');
    expect(html).toContain(
      '>&lt;b&gt;Free &amp; &quot;fast&quot;&lt;/b&gt;<span class="subtitle">Snippet 1</span></th>',
    );
    expect(html).toContain('scope="row">Snippet 2</th>');
    expect(html).toContain('aria-label="Edit &lt;b&gt;Free &amp; &quot;fast&quot;&lt;/b&gt;, in a new tab"');
  });

  test('an edit URL with the API key is in no record and no report', async () => {
    const service = await temporaryService(contents);
    const editUrl = `(id) => 'https://edit.test/' + process.env.SNIPPETS_API_KEY + '/' + id`;
    const site = await temporarySite(edited(editUrl), service);
    await site.builds(service.environment);
    const { stdout } = await site.run('report', '--json');
    expect(stdout).not.toContain('editUrl');
    expect(
      await readFile(join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json'), 'utf8'),
    ).not.toContain('edit.test');
  });
});
