import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyOfEverything } from '../support/site/everything.ts';

test('astro-snippets report compares with the previous build, also after a refresh, and says when that was', async () => {
  const site = await copyOfEverything();
  const report = async () => {
    const { exitCode, output } = await site.run('report');
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: `${site.directory}/snippets-report.html\n` });
    return readFile(join(site.directory, 'snippets-report.html'), 'utf8');
  };
  const changesOf = (html: string) => {
    const changes = Array.from(
      html.matchAll(/class="(changed|same|gone|added)"/g),
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
  const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC';
  expect(refreshed).toMatch(new RegExp(`Built on ${time}, refreshed on ${time}\\.`));
  expect(refreshed).toMatch(new RegExp(`Changes since ${time}\\.`));
  expect(changesOf(refreshed)).toEqual({ changed: 1, same: 10 });
  expect(refreshed).toContain('data-sort="6">6B<');

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
  expect(built).toMatch(/<li>(<a [^>]*>)?words\.html/);
});
