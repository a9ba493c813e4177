import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedService } from '../support/site/built-site.ts';
import { configWith, pageWith, temporarySite } from '../support/site/site.ts';
import { classFile, styledPage, styledSites } from '../support/site/styled-sites.ts';

const service = await sharedService({});

const literal = '<p class="pt-[6px]">Its id is written in the page.</p>';
const plain = styledSites['no tool'];

test('a rejected key ends early requests too', async () => {
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
    'src/pages/index.astro': pageWith('<link rel="stylesheet" href="/bücher/a.css"><Snippet id={1} />'),
    'public/bücher/a.css': '.big { color: red }',
    'public/as-it-is.html': page('/bücher/a.css'),
    'public/encoded.html': page('/b%C3%BCcher/a.css'),
    'public/reference.html': page('/b&uuml;cher/a.css'),
  });
  const output = await site.builds(service.environment);
  expect(output.match(/SANITIZED/g)).toHaveLength(1);
  // Style sheets are found however their URLs are written.
  expect(output.match(/Snippet 1 has classes.*/g)).toEqual([
    'Snippet 1 has classes that no style sheet of its pages has: wide. It is on as-it-is.html, encoded.html, index.html and 1 more place, written in src/pages/index.astro:4. [class-without-css]',
  ]);
  const classes = await readFile(join(site.directory, classFile), 'utf8');
  expect(classes).toContain('big');
  await site.builds({});
  expect(await readFile(join(site.directory, classFile), 'utf8')).toBe(classes);
});

test('with the option params, no snippet is requested early without its params', async () => {
  service.put(1, literal);
  const site = await temporarySite({
    'astro.config.mjs': configWith('{ classes: true, params: ({ page }) => ({ page }) }'),
    'src/pages/index.astro': styledPage('<Snippet id={1} />', plain),
  });
  const before = service.requests().length;
  await site.builds(service.environment);
  expect(service.requests().length - before).toBe(1);
});
