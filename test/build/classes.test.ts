import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site, temporarySite } from '../support/site.ts';
import { classFile, styledPage, styledSites } from '../support/styled-sites.ts';

let browser: Browser;
let service: TestService;

const literal = '<p class="text-[rgb(1,2,3)]">Its id is written in the page.</p>';
const computed = (text: string) => `<p class="bg-[rgb(250,200,5)] p-[7px]">${text}</p>`;

beforeAll(async () => {
  browser = await startBrowser();
  service = await startTestService({});
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

/** The computed styles of the one paragraph of a built page. */
async function stylesOf(
  site: Site,
  name: string,
): Promise<{ color: string; background: string; padding: string }> {
  const opened = await browser.newPage({ viewport: { width: 480, height: 120 } });
  try {
    await opened.route('**/*', (route) => {
      const { pathname } = new URL(route.request().url());
      return route.fulfill({ path: join(site.directory, 'dist', pathname) });
    });
    await opened.goto(`http://site.test/${name}`);
    const folder = process.env['SCREENSHOTS'];
    if (folder !== undefined) {
      await mkdir(folder, { recursive: true });
      await opened.screenshot({ path: join(folder, `${Date.now()}-${name.replace('/', '-')}.png`) });
    }
    return await opened.locator('p').evaluate((element) => {
      const { color, backgroundColor: background, padding } = getComputedStyle(element);
      return { color, background, padding };
    });
  } finally {
    await opened.close();
  }
}

const tools = ['Tailwind 4', 'UnoCSS'] as const;

test.for(tools)('%s makes CSS for the classes of snippets', async (tool) => {
  const styled = styledSites[tool];
  service.put(1, literal);
  service.put(2, computed('Its id is computed.'));
  const site = await createSite({
    ...styled.files(),
    'src/pages/index.astro': styledPage('<Snippet id={1} />', styled),
    'src/pages/computed.astro': styledPage('<Snippet id={two} />', styled),
  });
  try {
    const first = await site.build(service.environment);
    expect(first.exitCode, first.output).toBe(0);
    expect(await stylesOf(site, 'index.html')).toMatchObject({ color: 'rgb(1, 2, 3)' });
    // An id that is computed is not known before the page is rendered.
    const bare = await stylesOf(site, 'computed/index.html');
    expect(bare).toMatchObject({ background: 'rgba(0, 0, 0, 0)', padding: '0px' });
    expect(first.output.match(/Snippet \d+ has classes.*/g)).toEqual([
      'Snippet 2 has classes that no style sheet of computed/index.html has: bg-[rgb(250,200,5)], p-[7px]. Build again: some of them were not known before.',
    ]);

    const second = await site.build(service.environment);
    expect(second.exitCode, second.output).toBe(0);
    expect(second.output).not.toContain('has classes');
    expect(await stylesOf(site, 'index.html')).toMatchObject({ color: 'rgb(1, 2, 3)' });
    expect(await stylesOf(site, 'computed/index.html')).toMatchObject({
      background: 'rgb(250, 200, 5)',
      padding: '7px',
    });

    // A refresh cannot make CSS, so it only goes on while the classes stay.
    const refresh = () => startCommand(site.directory, ['refresh'], service.environment).ended;
    service.put(2, computed('Only the text has changed.'));
    const unchanged = await refresh();
    expect(unchanged.exitCode, unchanged.output).toBe(0);
    expect(await site.read('computed/index.html')).toContain('Only the text has changed.');
    service.put(2, '<p class="p-[8px]">Other classes</p>');
    const changed = await refresh();
    expect(changed.exitCode, changed.output).toBe(3);
    expect(changed.output).toContain(
      'computed/index.html needs style sheets that only a build makes: snippets now have other classes (p-[8px], bg-[rgb(250,200,5)], p-[7px])',
    );
    expect(await site.read('computed/index.html')).toContain('Only the text has changed.');
    const third = await site.build(service.environment);
    expect(third.output).not.toContain('has classes');
    expect(await stylesOf(site, 'computed/index.html')).toMatchObject({ padding: '8px' });
  } finally {
    await site.remove();
  }
});

/** The styles of a built page: Astro writes a small style sheet into the page. */
async function cssOf(site: Site, name: string): Promise<string> {
  const html = await site.read(name);
  const [, inPage = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? [];
  const [, file] = /<link rel="stylesheet" href="\/([^"]+)"/.exec(html) ?? [];
  return inPage + (file === undefined ? '' : await site.read(file));
}

test('a rejected key ends the early requests as it ends the others', async () => {
  const styled = styledSites['no tool'];
  const ids = Array.from({ length: 400 }, (_, index) => index + 1);
  const site = await createSite({
    ...styled.files(),
    'src/pages/index.astro': styledPage(ids.map((id) => `<Snippet id={${id}} />`).join('\n'), styled),
  });
  const before = service.requests().length;
  try {
    const { exitCode, output } = await site.build({
      ...service.environment,
      SNIPPETS_API_KEY: `${service.environment.SNIPPETS_API_KEY.slice(0, -4)}0000`,
    });
    expect(exitCode, output).toBe(1);
    expect(output).toContain('401 Unauthorized');
    expect(service.requests().length - before).toBeLessThan(ids.length / 2);
  } finally {
    await site.remove();
  }
});

test('a snippet that is prepared early is sanitized once, and without a key its classes stay', async () => {
  service.put(1, literal);
  const site = await createSite({
    'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const sanitize = (html) => {
  console.log('SANITIZED');
  return html;
};
export default defineConfig({ integrations: [snippets({ classes: true, sanitize, missingKey: 'children' })] });`,
    'src/pages/index.astro': styledPage('<Snippet id={1} />', styledSites['no tool']),
  });
  try {
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode, output).toBe(0);
    expect(output.match(/SANITIZED/g)).toHaveLength(1);
    const classes = await readFile(join(site.directory, classFile), 'utf8');
    expect(classes).toContain('text-[rgb(1,2,3)]');
    const withoutKey = await site.build();
    expect(withoutKey.exitCode, withoutKey.output).toBe(0);
    expect(await readFile(join(site.directory, classFile), 'utf8')).toBe(classes);
  } finally {
    await site.remove();
  }
});

test('with the option params, a snippet is not asked for early without them', async () => {
  service.put(1, literal);
  const site = await createSite({
    'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ integrations: [snippets({ classes: true, params: ({ page }) => ({ page }) })] });`,
    'src/pages/index.astro': styledPage('<Snippet id={1} />', styledSites['no tool']),
  });
  const before = service.requests().length;
  try {
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode, output).toBe(0);
    expect(service.requests().length - before).toBe(1);
  } finally {
    await site.remove();
  }
});

test.for(tools)(
  'with a dead service, %s makes CSS for what the last build showed, whether the last good content is shown or children',
  async (tool) => {
    const styled = styledSites[tool];
    service.put(1, literal);
    service.put(2, computed('The last good content.'));
    const site = await temporarySite({
      ...styled.files(`staleIfError: '7d'`),
      'src/pages/index.astro': styledPage('<Snippet id={1}>children</Snippet>', styled),
      'src/pages/computed.astro': styledPage('<Snippet id={two}>children</Snippet>', styled),
    });
    for (const _ of ['first', 'second']) {
      const built = await site.build(service.environment);
      expect(built.exitCode, built.output).toBe(0);
    }
    const css = () => cssOf(site, 'computed/index.html');
    const made = await css();
    expect(made).toContain('250');

    Object.assign(service.faults, { failing: 1, failingStatus: 503 });
    // As in CI, which keeps Astro's cache directory alone.
    const forget = async () => {
      for (const folder of ['.astro', 'dist']) await rm(join(site.directory, folder), { recursive: true });
    };
    await forget();
    const stale = await site.build(service.environment);
    expect(stale.exitCode, stale.output).toBe(0);
    expect(stale.output).toMatch(/Snippet 2 could not be .* Its last good content, .* is shown instead/);
    expect(stale.output).not.toContain('has classes');
    expect(await css()).toBe(made);
    expect(await stylesOf(site, 'computed/index.html')).toMatchObject({
      background: 'rgb(250, 200, 5)',
      padding: '7px',
    });

    await site.write(styled.files());
    await forget();
    const children = await site.build(service.environment);
    expect(children.exitCode, children.output).toBe(0);
    expect(await site.read('computed/index.html')).toContain('children');
    expect(await css()).toBe(made);
    service.clearFaults();
  },
);

test('with a dead service, a build fails as it does without `classes`', async () => {
  const styled = styledSites['no tool'];
  service.put(1, literal);
  const site = await temporarySite({
    ...styled.files(),
    'src/pages/index.astro': styledPage('<Snippet id={1} />\n<Snippet id={two} />', styled),
  });
  Object.assign(service.faults, { failing: 1, failingStatus: 503 });
  const reports = [];
  for (const options of ['', 'classes: false']) {
    await site.write(styled.files(options));
    const { exitCode, output } = await site.build(service.environment);
    reports.push({ exitCode, report: /\d+ snippets? could not be fetched[\s\S]*/.exec(output)?.[0] });
    expect(output.match(/could not be fetched\./g), output).toHaveLength(1);
  }
  service.clearFaults();
  expect(reports[0]).toMatchObject({ exitCode: 1 });
  expect(reports[0]?.report).toContain('Snippet 2: 503 Service Unavailable');
});
