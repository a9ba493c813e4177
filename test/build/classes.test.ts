import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { sharedService } from '../support/built-site.ts';
import { cli } from '../support/cli.ts';
import { configWith, type Site, temporarySite } from '../support/site.ts';
import { classFile, styledPage, styledSites } from '../support/styled-sites.ts';

const service = await sharedService({});
beforeEach(() => service.clearFaults());

const literal = '<p class="pt-[6px]">Its id is written in the page.</p>';
const computed = (text: string) => `<p class="bg-[rgb(250,200,5)] p-[7px]">${text}</p>`;
// Longer than anybody waits, so that these builds do not wait either.
const outage = { failing: 1, retryAfter: '3600' };

/** The styles of a built page: Astro writes a small style sheet into the page. */
async function cssOf(site: Site, name: string): Promise<string> {
  const html = await site.read(name);
  const [, inPage = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? [];
  const [, file] = /<link rel="stylesheet" href="\/([^"]+)"/.exec(html) ?? [];
  return inPage + (file === undefined ? '' : await site.read(file));
}

async function build(site: Site, environment: Record<string, string> = service.environment): Promise<string> {
  const { exitCode, output } = await site.build(environment);
  expect(exitCode, output).toBe(0);
  return output;
}

test('Tailwind makes CSS for the classes of snippets: for what the last build showed with a dead service, and by no refresh', async () => {
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
  // An id that is computed is not known before the page is rendered.
  expect(await css()).not.toContain('padding:7px');
  expect(withoutNew.match(/Snippet \d+ has classes.*/g)).toEqual([
    'Snippet 2 has classes that no style sheet of computed/index.html has: bg-[rgb(250,200,5)], p-[7px]. Build again: some of them were not known before.',
  ]);

  expect(await build(site)).not.toContain('has classes');
  expect(await cssOf(site, 'index.html')).toContain('padding-top:6px');
  expect(await css()).toMatch(/background-color:(?:#fac805|rgb\(250 200 5\b)/);
  expect(await css()).toContain('padding:7px');
  const refresh = () => cli(site.directory, ['refresh'], service.environment);
  service.put(2, computed('Only the text has changed.'));
  expect(await refresh()).toMatchObject({ exitCode: 0 });
  // As in CI, which keeps Astro's cache directory alone.
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

  // A refresh cannot make CSS, so it only goes on while the classes stay.
  service.put(2, computed('The old classes'));
  expect(await refresh()).toMatchObject({
    exitCode: 3,
    output: expect.stringContaining(
      'computed/index.html needs style sheets that only a build makes: snippets now have other classes (bg-[rgb(250,200,5)], p-[7px], p-[8px])',
    ),
  });
  expect(await site.read('computed/index.html')).toContain('Other classes');
});

const plain = styledSites['no tool'];

test('a rejected key ends the early requests as it ends the others', async () => {
  const ids = Array.from({ length: 400 }, (_, index) => index + 1);
  const site = await temporarySite({
    ...plain.files(),
    'src/pages/index.astro': styledPage(ids.map((id) => `<Snippet id={${id}} />`).join('\n'), plain),
  });
  const before = service.requests().length;
  const { exitCode, output } = await site.build({
    ...service.environment,
    SNIPPETS_API_KEY: `${service.environment.SNIPPETS_API_KEY.slice(0, -4)}0000`,
  });
  expect(exitCode, output).toBe(1);
  expect(output).toContain('401 Unauthorized');
  expect(service.requests().length - before).toBeLessThan(ids.length / 2);
});

test('a snippet that is prepared early is sanitized once, and without a key its classes stay', async () => {
  service.put(1, '<p class="big wide">text</p>');
  const page = (href: string) =>
    `<link rel="stylesheet" href="${href}"><snippet-embed id="1"></snippet-embed>`;
  const site = await temporarySite({
    'astro.config.mjs': configWith(`{ classes: true, sanitize, missingKey: 'children' }`, {
      imports: `const sanitize = (html) => {\n  console.log('SANITIZED');\n  return html;\n};`,
    }),
    'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<link rel="stylesheet" href="/bücher/a.css"><Snippet id={1} />`,
    'public/bücher/a.css': '.big { color: red }',
    'public/as-it-is.html': page('/bücher/a.css'),
    'public/encoded.html': page('/b%C3%BCcher/a.css'),
    'public/reference.html': page('/b&uuml;cher/a.css'),
  });
  const output = await build(site);
  expect(output.match(/SANITIZED/g)).toHaveLength(1);
  // Style sheets are found however their URLs are written.
  expect(output.match(/Snippet 1 has classes.*/g)).toEqual([
    'Snippet 1 has classes that no style sheet of as-it-is.html, encoded.html, index.html and 1 more place has: wide.',
  ]);
  const classes = await readFile(join(site.directory, classFile), 'utf8');
  expect(classes).toContain('big');
  await build(site, {});
  expect(await readFile(join(site.directory, classFile), 'utf8')).toBe(classes);
});

test('with the option params, a snippet is not asked for early without them', async () => {
  service.put(1, literal);
  const site = await temporarySite({
    'astro.config.mjs': configWith('{ classes: true, params: ({ page }) => ({ page }) }'),
    'src/pages/index.astro': styledPage('<Snippet id={1} />', plain),
  });
  const before = service.requests().length;
  await build(site);
  expect(service.requests().length - before).toBe(1);
});
