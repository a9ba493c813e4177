import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { allowInPage, allowSources } from '../../src/content/csp.ts';
import { findInlineCode } from '../../src/content/inline-code.ts';
import { replaceEmbeds } from '../../src/embed/replace-embeds.ts';
import { imageHost } from '../support/http/image-host.ts';
import { sharedService, sharedSite } from '../support/site/built-site.ts';
import { folderWith } from '../support/site/folder.ts';
import { astroVersion, byAstro, isFirstOfMajor } from '../support/site/installation.ts';
import { configWithPolicy, headersFile, snippetWithCode, staticHeaders } from '../support/site/policy.ts';
import { configWith, pageWith, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';

describe('sources are added to a policy:', () => {
  const sources = { scripts: ["'sha256-S'"], styles: ["'sha256-T'"] };
  test.for([
    ["script-src 'self'; style-src 'self';", "script-src 'self' 'sha256-S'; style-src 'self' 'sha256-T';"],
    ["SCRIPT-SRC 'self'", "SCRIPT-SRC 'self' 'sha256-S'"],
    ["script-src 'none'", "script-src 'sha256-S'"],
    ['script-src', "script-src 'sha256-S'"],
    ["script-src 'self' 'sha256-S'", "script-src 'self' 'sha256-S'"],
    ["script-src 'unsafe-inline'", "script-src 'unsafe-inline'"],
    ["script-src 'unsafe-inline' 'nonce-a'", "script-src 'unsafe-inline' 'nonce-a' 'sha256-S'"],
    ["script-src 'Unsafe-Inline'", "script-src 'Unsafe-Inline'"],
    ["script-src 'UNSAFE-INLINE' 'NONCE-a'", "script-src 'UNSAFE-INLINE' 'NONCE-a' 'sha256-S'"],
    ["script-src 'unsafe-inline' 'Sha256-a'", "script-src 'unsafe-inline' 'Sha256-a' 'sha256-S'"],
    ["style-src 'unsafe-inline' 'strict-dynamic'", "style-src 'unsafe-inline' 'strict-dynamic'"],
    ["script-src 'unsafe-inline' 'Strict-Dynamic'", "script-src 'unsafe-inline' 'Strict-Dynamic' 'sha256-S'"],
    ["script-src 'NONE'", "script-src 'sha256-S'"],
    ["default-src 'None'", "default-src 'None'; script-src 'sha256-S'; style-src 'sha256-T'"],
    ["script-src 'self'; script-src-elem 'self'", "script-src 'self'; script-src-elem 'self' 'sha256-S'"],
    ["default-src 'self'", "default-src 'self'; script-src 'self' 'sha256-S'; style-src 'self' 'sha256-T'"],
    [
      "default-src 'none'; img-src *;",
      "default-src 'none'; img-src *; script-src 'sha256-S'; style-src 'sha256-T'",
    ],
    ["img-src 'self'", "img-src 'self'"],
    ['', ''],
    ["script-src 'self', script-src x.test", "script-src 'self' 'sha256-S', script-src x.test 'sha256-S'"],
  ] as const)('%j becomes %j', ([policy, expected]) => {
    expect(allowSources(policy, sources)).toBe(expected);
    // Adding them again changes nothing.
    expect(allowSources(allowSources(policy, sources), sources)).toBe(expected);
    expect(allowSources(policy, { scripts: [], styles: [] })).toBe(policy);
  });
});

test.for([
  ['<script>a</script><style>b</style>', 1, 1, false],
  ['<script src=x></script>', 0, 0, false],
  ['<script type="application/json">{}</script><script type="text/plain">x</script>', 0, 0, false],
  [
    '<script type=module>a</script><script type=importmap>{}</script><script type=" Text/JavaScript">b</script>',
    3,
    0,
    false,
  ],
  ['<svg><style>a</style></svg>', 0, 1, false],
  ['<svg><script href="x"></script><script>a</script></svg>', 1, 0, false],
  [
    '<script type="application/x-javascript">a</script><script type="text/ecmascript">b</script><script type="speculationrules">{}</script>',
    3,
    0,
    false,
  ],
  ['<template><script>a</script></template><noscript><style>b</style></noscript>', 0, 0, false],
  ['<b style="color:red">c</b>', 0, 0, true],
  ['<b onclick="x">c</b>', 0, 0, true],
  ['<!-- <script>a</script> --> text', 0, 0, false],
  ['<script type="text/javascript1.5">a</script><script type="text/JScript">b</script>', 2, 0, false],
  ['<script type="text/javascript;x=y">a</script><script type="text/x-template">b</script>', 0, 0, false],
  ['<script href="x">a</script><svg><script src="x">b</script></svg>', 2, 0, false],
  ['<svg><script xlink:href="x"></script></svg>', 0, 0, false],
  ['<a href="java&NewLine;script&colon;x">c</a>', 0, 0, true],
  ['<a href="https://x.test/#javascript:x">c</a>', 0, 0, false],
] as const)(
  'inline code that a policy may block is found in: %s',
  ([html, scripts, styles, hasAttributes]) => {
    const found = findInlineCode(html);
    expect([found.scripts.length, found.styles.length, found.attributes.length > 0]).toEqual([
      scripts,
      styles,
      hasAttributes,
    ]);
  },
);

test('the policy of a page is found in its head, and the other attributes of its element stay', () => {
  const page = Buffer.from(
    `<head><title>ü</title><script>"</head>"</script><META data-x='ü "q"' http-equiv="Content-Security-Policy" content="script-src &#39;self&#39;"></HEAD><body><meta http-equiv="content-security-policy" content="x"></body>`,
  );
  const sources = { scripts: ["'sha256-S'"], styles: [] };
  const allowed = replaceEmbeds(page, [], () => undefined, allowInPage(page, sources).edits).toString();
  expect(allowed).toBe(page.toString().replace('&#39;self&#39;', "'self' 'sha256-S'"));
  const { edits: without } = allowInPage(page, { scripts: [], styles: [] });
  expect(replaceEmbeds(page, [], () => undefined, without)).toEqual(page);
  expect(without).toHaveLength(1);
});

describe('on a site,', async () => {
  const page = (body: string) =>
    pageWith(`<html><head><title>Page</title></head><body>${body}</body></html>`);

  const { service, site } = await sharedSite(
    {
      1: snippetWithCode('red'),
      2: '<b style="color: red">styled</b>',
      3: '<b>harmless</b>',
    },
    {
      'src/pages/index.astro': page('<p><Snippet id={1} /></p>'),
      'src/pages/plain.astro': page('<p><Snippet id={2} /></p><p><Snippet id={3} /></p>'),
      'src/pages/text.astro': page('<p><Snippet id={1} as="text" /></p>'),
      'src/pages/headless.astro': page('<p><Snippet id={1} /></p>').replace(
        /<\/?(html|head|body)>|<title.*title>/g,
        '',
      ),
    },
  );

  const build = (built = site) => built.builds(service.environment);
  const refresh = (built = site) => cli(built.directory, ['refresh'], service.environment);
  const policyOf = async (name: string) => /<meta http-equiv[^>]*>/.exec(await site.read(name))?.[0] ?? '';

  /** The hashes that allow the snippet's code, as a browser reads it. */
  const sourcesOf = (color: string) =>
    [`\ndocument.documentElement.dataset.ran = '${color}';`, `i { color: ${color}; }`].map(
      (code) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`,
    );
  function expectSources(policy: string, color: string, areThere = true) {
    for (const source of sourcesOf(color)) expect(policy.includes(source), policy).toBe(areThere);
  }

  test("by default a snippet's script and style are blocked, and the build warns about it", async () => {
    await site.write({ 'astro.config.mjs': configWithPolicy() });
    const output = await build();
    expect(output).toMatch(
      /Snippet 1 contains an inline script and an inline style, blocked by the site's Content Security Policy\. Set csp: 'hash' .* It is on headless\/index\.html, index\.html/,
    );
    expect(output).toMatch(
      /Snippet 2 contains event handlers, style attributes or javascript: URLs, blocked by the site's Content Security Policy\. No hash can allow these\. It is on plain\/index\.html, written in src\/pages\/plain\.astro:4\./,
    );
    expect(output).not.toContain('Snippet 3');
    expectSources(await policyOf('index.html'), 'red', false);
  });

  test("csp: 'hash' allows code on the pages that show it and no others, in a build and in a refresh", async () => {
    await site.write({ 'astro.config.mjs': configWithPolicy(`{ csp: 'hash' }`) });
    const output = await build();
    expect(output).not.toContain('Snippet 1 contains');
    expect(output).not.toContain('does nothing');
    expect(output).toContain(
      'Snippet 2 contains event handlers, style attributes or javascript: URLs, which no hash in a Content Security Policy can allow',
    );
    expect(await site.read('headless/index.html')).not.toContain('</head');
    for (const name of ['index.html', 'headless/index.html']) expectSources(await policyOf(name), 'red');
    for (const name of ['plain/index.html', 'text/index.html']) {
      expect(await policyOf(name)).toContain('script-src');
      expectSources(await policyOf(name), 'red', false);
    }

    service.put(1, snippetWithCode('blue'));
    expect(await refresh()).toMatchObject({ exitCode: 0 });
    for (const name of ['index.html', 'headless/index.html']) {
      expectSources(await policyOf(name), 'blue');
      expectSources(await policyOf(name), 'red', false);
    }
  });

  test("csp: 'hash' on a site without a policy is a warning that names Astro's option", async () => {
    const other = await temporarySite({
      'astro.config.mjs': configWith(`{ csp: 'hash' }`),
      'src/pages/index.astro': '<p>Nothing</p>',
    });
    const option = byAstro({ 5: 'experimental.csp', 6: 'security.csp', 7: 'security.csp' });
    expect(await build(other)).toContain(
      `The option csp: 'hash' does nothing without ${option} in the Astro config.`,
    );
  });

  test("csp: 'hash' adds hashes to an adapter's headers of every page, also with a base and build.format 'file', and only in a build", async ({
    skip,
  }) => {
    skip(isFirstOfMajor && astroVersion === 6, "Astro 6.0 cannot render this site with build.format 'file'");
    const other = await temporarySite({
      'astro.config.mjs': configWithPolicy(
        `{ csp: 'hash' }`,
        `base: '/docs', build: { format: 'file' }, adapter: node({ mode: 'standalone', ${staticHeaders} })`,
      ),
      'src/pages/[...page].astro': `---
import { Snippet } from 'astro-snippets/components';
export const getStaticPaths = () => [undefined, 'one', 'deep/two', 'drei-ü'].map((page) => ({ params: { page } }));
---
<html><head><title>Page</title></head><body><p><Snippet id={1} /></p></body></html>`,
    });
    service.put(1, snippetWithCode('blue'));
    await build(other);
    expect(await other.read('client/one.html')).not.toContain('http-equiv');
    const routes: { headers: { value: string }[] }[] = JSON.parse(await other.read(headersFile));
    expect(routes).toHaveLength(4);
    for (const { headers } of routes) expectSources(headers[0]?.value ?? '', 'blue');

    // Headers change only with the scripts and styles.
    service.put(1, snippetWithCode('blue').replace('snippet', 'words'));
    expect(await refresh(other)).toMatchObject({ exitCode: 0 });
    expect(await other.read('client/one.html')).toContain('<i>words</i>');

    service.put(1, snippetWithCode('green'));
    const { exitCode, output } = await refresh(other);
    expect(exitCode).toBe(3);
    expect(output).toContain('one.html has its policy in headers, which only a build writes');
  });
});

describe('what a policy blocks is told by the policies of each page:', async () => {
  const service = await sharedService({});
  const withPolicy = (policy: string, body: string) =>
    `<html lang="en"><head><meta http-equiv="content-security-policy" content="${policy}"><title>t</title></head><body>${body}</body></html>`;
  const embed = '<snippet-embed id="1"></snippet-embed>';

  test("code that 'unsafe-inline' allows is not called blocked, in a run of inline and in a refresh", async () => {
    service.put(1, '<b onclick="go()" style="color: red">one</b>');
    const folder = await folderWith({
      'snippets.config.js': `export default { csp: 'hash' };`,
      'site/open.html': withPolicy("script-src 'unsafe-inline'; style-src 'unsafe-inline'", embed),
      'site/none.html': withPolicy("img-src 'self'", embed),
      'site/nonce.html': withPolicy("script-src 'unsafe-inline' 'nonce-a'", embed),
      'site/self.html': withPolicy("script-src 'self'", embed),
    });
    const warning =
      'Snippet 1 contains event handlers, style attributes or javascript: URLs, which no hash in a Content Security Policy can allow: browsers ignore them. It is on nonce.html, self.html. [blocked-by-policy]';
    const run = async (...argv: string[]) => {
      const { exitCode, output } = await cli(folder.directory, argv, service.environment);
      expect(exitCode, output).toBe(0);
      return output.match(/^Snippet 1 .*/gm);
    };
    expect(await run('inline', 'site')).toEqual([warning]);
    service.put(1, '<b onclick="go()">two</b>');
    expect(await run('refresh')).toEqual([warning]);
  });

  test('code that a policy by hand blocks is told in a build, a run of inline and a refresh', async () => {
    const code = (text: string) => `<script>go("${text}")</script><a href="java&Tab;script:go()">link</a>`;
    const files = {
      blocked: withPolicy("default-src 'self'", embed),
      open: withPolicy("img-src 'self'", embed),
      without: `<html lang="en"><head><title>t</title></head><body>${embed}</body></html>`,
    };
    const warning =
      /Snippet 1 contains an inline script and event handlers, style attributes or javascript: URLs, blocked by the site's Content Security Policy\. Allow it there\. It is on blocked(\/index)?\.html(?!, (open|without))/;
    const expectWarning = (output: string) => {
      expect(output.match(/Snippet 1 contains.*/g), output).toEqual([expect.stringMatching(warning)]);
    };

    service.put(1, code('one'));
    const site = await temporarySite(
      {
        'astro.config.mjs': configWith("{ scripts: 'allow' }"),
        ...Object.fromEntries(Object.entries(files).map(([name, html]) => [`src/pages/${name}.astro`, html])),
      },
      service,
    );
    const folder = await folderWith(
      Object.fromEntries(Object.entries(files).map(([name, html]) => [`site/${name}.html`, html])),
    );
    expectWarning(await site.builds());
    expectWarning(
      (await cli(folder.directory, ['inline', 'site', '--scripts', 'allow'], service.environment)).output,
    );
    service.put(1, code('two'));
    expectWarning((await site.run('refresh')).output);
    expectWarning((await cli(folder.directory, ['refresh'], service.environment)).output);
  });

  test("a site's copies of images that `img-src` blocks are told, without a policy of Astro's, too", async () => {
    service.put(1, `<img alt="" src="https://${imageHost()}/hero.png">`);
    const site = await temporarySite(
      {
        'astro.config.mjs': configWith(`{ images: { hosts: ['${imageHost()}'] } }`, {
          settings: `site: 'https://site.example',`,
        }),
        'src/pages/blocked.astro': withPolicy('img-src https://cdn.example', embed),
        'src/pages/default.astro': withPolicy("default-src 'none'; img-src data:", embed),
        'src/pages/self.astro': withPolicy("img-src 'self'", embed),
        'src/pages/named.astro': withPolicy('img-src *.site.example site.example', embed),
        'src/pages/open.astro': withPolicy("script-src 'self'", embed),
      },
      service,
    );
    const warning =
      /^.*Snippet 1 shows the image (\/_astro\/hero\.\w+\.png), blocked by `img-src` or `default-src` of the site's Content Security Policy\. Allow it there\. It is on blocked\/index\.html, default\/index\.html/gm;
    expect((await site.builds()).match(warning)).toHaveLength(1);
    service.put(1, `<p><img alt="" src="https://${imageHost()}/hero.png"></p>`);
    expect((await site.run('refresh')).output.match(warning)).toHaveLength(1);
  });
});
