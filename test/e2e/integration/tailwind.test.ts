import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedService } from '../../support/site/built-site.ts';
import { type Site, temporarySite } from '../../support/site/site.ts';
import { styledPage, styledSites } from '../../support/site/styled-sites.ts';
import { cli } from '../../support/tools/cli.ts';

const service = await sharedService({});

const literal = '<p class="pt-[6px]">Its id is written in the page.</p>';
const computed = (text: string) => `<p class="bg-[rgb(250,200,5)] p-[7px]">${text}</p>`;
// Too long to wait for, so these builds do not wait.
const outage = { failing: 1, retryAfter: '3600' };

/** The styles of a built page. Astro inlines small style sheets. */
async function cssOf(site: Site, name: string): Promise<string> {
  const html = await site.read(name);
  const [, inPage = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? [];
  const [, file] = /<link rel="stylesheet" href="\/([^"]+)"/.exec(html) ?? [];
  return inPage + (file === undefined ? '' : await site.read(file));
}

const build = (site: Site) => site.builds(service.environment);

test('Tailwind makes CSS for the classes of snippets, from the last build if the service is down, and not in a refresh', async () => {
  const styled = styledSites['Tailwind 4'];
  service.put(1, literal);
  service.put(2, computed('Its id is computed.'));
  const site = await temporarySite({
    ...styled.files(`staleIfError: '7d'`),
    'src/pages/index.astro': styledPage('<Snippet id={1}>children</Snippet>', styled),
    'src/pages/computed.astro': styledPage('<Snippet id={two}>children</Snippet>', styled),
  });
  const css = () => cssOf(site, 'computed/index.html');
  const withoutNew = await build(site);
  expect(await cssOf(site, 'index.html')).toContain('padding-top:6px');
  // A computed id is not known before the page is rendered.
  expect(await css()).not.toContain('padding:7px');
  expect(withoutNew.match(/Snippet \d+ has classes.*/g)).toEqual([
    expect.stringContaining(
      'Snippet 2 has classes that no style sheet of its pages has: bg-[rgb(250,200,5)], p-[7px]. Build again: some of them were not known before. It is on computed/index.html, written in src/pages/computed',
    ),
  ]);

  expect(await build(site)).not.toContain('has classes');
  expect(await cssOf(site, 'index.html')).toContain('padding-top:6px');
  expect(await css()).toMatch(/background-color:(?:#fac805|rgb\(250 200 5\b)/);
  expect(await css()).toContain('padding:7px');
  const refresh = () => cli(site.directory, ['refresh'], service.environment);
  service.put(2, computed('Only the text has changed.'));
  expect(await refresh()).toMatchObject({ exitCode: 0 });
  // As in CI, which keeps only Astro's cache directory.
  const made = await css();
  Object.assign(service.faults, outage);
  for (const folder of ['.astro', 'dist']) await rm(join(site.directory, folder), { recursive: true });
  expect(await build(site)).not.toContain('has classes');
  expect(await site.read('computed/index.html')).toContain('Only the text has changed.');
  expect(await css()).toBe(made);

  service.clearFaults();
  service.put(2, '<p class="p-[8px]">Other classes</p>');
  expect(await build(site)).not.toContain('has classes');
  expect(await css()).toContain('padding:8px');

  // A refresh cannot make CSS, so it works only while the classes stay the same.
  service.put(2, computed('The old classes'));
  expect(await refresh()).toMatchObject({
    exitCode: 3,
    output: expect.stringContaining(
      'computed/index.html needs style sheets that only a build makes: snippets now have other classes (bg-[rgb(250,200,5)], p-[7px], p-[8px])',
    ),
  });
  expect(await site.read('computed/index.html')).toContain('Other classes');
});
