import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

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

const page = (content: string, head: string) =>
  `---
import { Snippet } from 'astro-snippets/components';
${head}
const two = 1 + 1;
---
<html><head><title>Page</title></head><body class="m-[9px]">${content}</body></html>`;

const file = '.astro/integrations/astro-snippets/classes.html';
const config = (imports: string, plugin: string) => `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
${imports}
export default defineConfig({ integrations: [snippets({ classes: true })], vite: { plugins: [${plugin}] } });
`;

const sites = {
  'Tailwind 4': {
    head: `import '../styles/global.css';`,
    files: {
      'astro.config.mjs': config(`import tailwindcss from '@tailwindcss/vite';`, 'tailwindcss()'),
      'src/styles/global.css': `@import 'tailwindcss';\n@source '../../${file}';\n`,
    },
  },
  UnoCSS: {
    head: `import 'virtual:uno.css';`,
    files: {
      'astro.config.mjs': config(
        `import UnoCSS from 'unocss/vite';\nimport { presetWind3 } from 'unocss';`,
        `UnoCSS({ presets: [presetWind3()], content: { filesystem: ['${file}'] } })`,
      ),
    },
  },
};

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

test.for(Object.entries(sites))('%s makes CSS for the classes of snippets', async ([, { head, files }]) => {
  service.put(1, literal);
  service.put(2, computed('Its id is computed.'));
  const site = await createSite({
    ...files,
    'src/pages/index.astro': page('<Snippet id={1} />', head),
    'src/pages/computed.astro': page('<Snippet id={two} />', head),
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

test('a rejected key ends the early requests as it ends the others', async () => {
  const ids = Array.from({ length: 400 }, (_, index) => index + 1);
  const site = await createSite({
    'astro.config.mjs': config('', ''),
    'src/pages/index.astro': page(ids.map((id) => `<Snippet id={${id}} />`).join('\n'), ''),
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
    'src/pages/index.astro': page('<Snippet id={1} />', ''),
  });
  try {
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode, output).toBe(0);
    expect(output.match(/SANITIZED/g)).toHaveLength(1);
    const classes = await readFile(join(site.directory, file), 'utf8');
    expect(classes).toContain('text-[rgb(1,2,3)]');
    const withoutKey = await site.build();
    expect(withoutKey.exitCode, withoutKey.output).toBe(0);
    expect(await readFile(join(site.directory, file), 'utf8')).toBe(classes);
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
    'src/pages/index.astro': page('<Snippet id={1} />', ''),
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
