import { symlinkSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copyOfEverything } from '../support/site/everything.ts';
import { folderWith } from '../support/site/folder.ts';
import { snippetsCommand } from '../support/site/installation.ts';
import { embed, withService } from './folders.ts';

const { service, run, runs } = await withService();

test('pages, feeds and JSON of a folder are inlined, every other byte stays, and the record is in .cache', async () => {
  const others = { 'public/app.js': `const embed = '${embed(1)}';`, 'public/plain.html': '<p>plain</p>' };
  const folder = await folderWith({
    ...others,
    'public/index.html': `<title>${embed(2)}</title>\n<p>${embed(1)}</p>\n`,
    'public/feed.xml': `<rss><item><description><![CDATA[${embed(1)}]]></description></item></rss>`,
    'public/data.json': JSON.stringify({ html: embed(1) }),
  });
  expect(await runs(folder, ['inline', 'public'])).toContain('2 snippets in 4 embeds in 3 files');
  const { '.cache/astro-snippets/manifest.public.json': record, ...files } = await folder.files();
  expect(record).toBeDefined();
  const isKept = (name: string) => name.includes('/answers/') || name.endsWith('.pack');
  for (const name of Object.keys(files)) if (isKept(name)) delete files[name];
  expect(files).toEqual({
    ...others,
    '.cache/astro-snippets/.gitignore': '*\n',
    'public/data.json': JSON.stringify({ html: '<b>one</b>' }),
    'public/feed.xml': '<rss><item><description><![CDATA[<b>one</b>]]></description></item></rss>',
    'public/index.html': '<title>two &amp; more</title>\n<p><b>one</b></p>\n',
  });
});

test('in a project with an Astro config, the record is where a build would write it', async () => {
  const folder = await folderWith({ 'public/a.html': embed(1), 'astro.config.mjs': '' });
  await runs(folder, ['inline', 'public']);
  await folder.read('node_modules/.astro/astro-snippets/manifest.public.json');
  expect(await runs(folder, ['inline', 'public'])).toContain('Not changed since an earlier run: 1 file.');
});

test('the output of an Astro build is left to a refresh', async () => {
  const site = await copyOfEverything();
  site.service.put(1, '<b>new</b>');
  const { exitCode, output } = await site.run('inline', 'dist');
  expect(exitCode).toBe(2);
  expect(output).toContain('dist is the output of an Astro build, which has inlined its snippets.');
  expect(output).toContain('`astro-snippets refresh`');
  expect(await site.read('index.html')).toContain('heffalump');
  // From now on, another generator writes there.
  const [, record = ''] = /delete (\S+) first/.exec(output) ?? [];
  await rm(join(site.directory, record));
  expect((await site.run('inline', 'dist')).exitCode).toBe(0);
});

test('a folder without embeds needs no key, and can be listed and checked', async () => {
  const folder = await folderWith({ 'public/a.html': '<p>plain</p>' });
  expect(await run(folder, ['inline', 'public'], { SNIPPETS_API_KEY: '' })).toMatchObject({ exitCode: 0 });
  expect(await runs(folder, ['list'])).toBe('The site shows no snippets.\n');
  await runs(folder, ['check']);
});

test.for<[what: string, files: Record<string, string>, message: string, flags?: string[]]>([
  ['a snippet does not exist', { 'b.html': embed(404) }, 'Snippet 404: 404 Not Found [not-found]'],
  ['an embed is invalid', { 'b.html': '<p>\n<snippet-embed id="x">' }, 'b.html:2\n'],
  ['the generator wrote the key', { 'app.js': `const key = 'KEY';` }, 'was found in app.js. [published-key]'],
  ['a content has the key', { 'b.html': embed(3) }, 'was found in b.html. [published-key]'],
  ['a script is refused', { 'b.html': embed(4) }, '[script-refused]', ['--scripts', 'error']],
  ['an open element is refused', { 'b.html': embed(5) }, '[left-open]', ['--strict']],
])('nothing is written, and the message names the file, when %s', async ([, files, message, flags = []]) => {
  const key = service.environment.SNIPPETS_API_KEY;
  service.put(3, `<p>${key}</p>`);
  service.put(4, '<script>go()</script>');
  service.put(5, '<textarea>open');
  const folder = await folderWith({ 'public/a.html': embed(1) });
  for (const [name, content] of Object.entries(files)) {
    await folder.write({ [`public/${name}`]: content.replace('KEY', key) });
  }
  const before = await folder.files('public');
  const output = await runs(folder, ['inline', 'public', ...flags], 1);
  expect(output.replace(' Nothing was written.', '')).toContain(message);
  expect(await folder.files('public')).toEqual(before);
  expect(await runs(folder, ['check'], 3)).toContain('No build manifest found');
});

describe('--output', () => {
  test('leaves the input as it is, and writes all files to the output', async () => {
    const input = {
      'index.html': `<p>${embed(1)}</p>`,
      'img/logo.png': 'not really a picture',
      'css/site.css': 'p { color: red }',
    };
    const folder = await folderWith({});
    for (const [name, text] of Object.entries(input)) await folder.write({ [`site/${name}`]: text });
    await runs(folder, ['inline', 'site', '--output', 'www']);
    expect(await folder.files('site')).toEqual(input);
    expect(await folder.files('www')).toEqual({ ...input, 'index.html': '<p><b>one</b></p>' });
    service.put(1, '<b>new</b>');
    await runs(folder, ['refresh']);
    expect(await folder.read('www/index.html')).toBe('<p><b>new</b></p>');
  });

  test('a second run changes nothing, and keeps files that only the output has', async () => {
    const folder = await folderWith({ 'site/a.html': embed(1), 'site/b.html': embed(2) });
    await runs(folder, ['inline', 'site', '--output', 'www']);
    await rm(join(folder.directory, 'site/b.html'));
    const before = await folder.files('www');
    const { mtimeMs } = await stat(join(folder.directory, 'www/a.html'));
    await runs(folder, ['inline', 'site', '--output', 'www']);
    expect(await folder.files('www')).toEqual(before);
    expect((await stat(join(folder.directory, 'www/a.html'))).mtimeMs).toBe(mtimeMs);
    expect(await runs(folder, ['list'])).toBe('Snippet 1\n    a.html\nSnippet 2\n    b.html\n');
  });

  test('a failed run keeps the output and its record, and a failed first run makes no output', async () => {
    const folder = await folderWith({ 'site/sub/a.html': embed(404) });
    await runs(folder, ['inline', 'site', '--output', 'www'], 1);
    await expect(stat(join(folder.directory, 'www'))).rejects.toThrow('ENOENT');
    await folder.write({ 'site/sub/a.html': embed(1) });
    await runs(folder, ['inline', 'site', '--output', 'www']);
    await folder.write({ 'site/new/b.html': embed(404), 'site/sub/a.html': `<p>${embed(2)}</p>` });
    await runs(folder, ['inline', 'site', '--output', 'www'], 1);
    expect(await folder.files('www')).toEqual({ 'sub/a.html': '<b>one</b>' });
    expect(await runs(folder, ['check'])).toContain('Nothing has changed');
  });

  test('if the input is the project root, the record is not copied to the output', async () => {
    // The record's folder holds this embed in an answer of the service. It must not be searched.
    service.put(1, `<p>Write ${embed(99)}</p>`);
    const folder = await folderWith({ 'site/index.html': embed(1) });
    const project = { directory: join(folder.directory, 'site') };
    await runs(project, ['inline', '.', '--output', '../www']);
    await runs(project, ['inline', '.', '--output', '../www']);
    expect(await folder.files('www')).toEqual({ 'index.html': `<p>Write ${embed(99)}</p>` });
    expect(await runs(project, ['list'])).toBe('Snippet 1\n    index.html\n');
  });
});

test.for([
  ['a folder that does not exist', ['nowhere'], 'The folder nowhere does not exist.'],
  ['a file', ['public/index.html'], 'is not a folder'],
  ['no folder', [], "missing required argument 'folder'"],
  ['an invalid flag', ['public', '--timeout', '10'], 'must be a duration with its unit'],
  ['another invalid flag', ['public', '--concurrency', '0'], 'concurrency'],
  ['an output inside the input', ['public', '--output', 'public/out'], '[unusable-output]'],
  ['an input inside the output', ['public', '--output', '.'], '[unusable-output]'],
  ['a record that would be published', ['.'], 'would be published. [unusable-output]'],
] as const)('the exit status is 2 for %s', async ([, argv, message]) => {
  const folder = await folderWith({ 'public/index.html': embed(1) });
  expect(await runs(folder, ['inline', ...argv], 2)).toContain(message);
  expect(await folder.read('public/index.html')).toBe(embed(1));
});

describe('options', () => {
  test('come from snippets.config.js, and flags win over it', async () => {
    service.put(1, '<b onclick="go()">one</b>');
    const folder = await folderWith({
      'public/index.html': embed(1),
      'public/docs/index.html': embed(1),
      'snippets.config.js': "export default { exclude: 'docs/**', scripts: 'error' };",
    });
    expect(await runs(folder, ['inline', 'public'], 1)).toContain('[script-refused]');
    expect(await runs(folder, ['inline', 'public', '--scripts', 'strip'])).not.toContain('matches no');
    expect(await folder.files('public')).toEqual({
      'docs/index.html': embed(1),
      'index.html': '<b >one</b>',
    });
  });

  test('--exclude warns of a pattern that matches nothing, and refuses an empty one', async () => {
    const folder = await folderWith({ 'public/index.html': embed(1), 'public/docs/index.html': embed(1) });
    expect(await runs(folder, ['inline', 'public', '--exclude', 'public/docs/**'])).toContain(
      'exclude: "public/docs/**" matches no text file of the output.',
    );
    expect(await runs(folder, ['inline', 'public', '--exclude', ''], 2)).toContain('must be a glob pattern');
  });

  test.for([
    [
      'an unknown option',
      'export default { apiKey: "x" };',
      'The options in snippets.config.js are invalid:\n- "apiKey" is not an option',
    ],
    ['no object', 'export default 1;', 'The options in snippets.config.js are invalid:\n- the options: '],
    ['a syntax error', 'export default {', 'snippets.config.js could not be loaded'],
    ['an option of Astro sites', "export default { links: 'base' };", '`links` works in Astro sites only'],
    [
      'one that has its pages',
      "export default { editLinks: true, editUrl: (id) => '/edit/' + id };",
      '`editLinks` works in Astro sites only',
    ],
    [
      'no default export',
      'export const strict = true;',
      'The options in snippets.config.js are invalid:\n- the options: ',
    ],
    ['the key', "export default { exclude: 'KEY' };", 'snippets.config.js contains the API key.'],
  ] as const)('with %s in the config are an error', async ([, config, message]) => {
    const written = config.replace('KEY', service.environment.SNIPPETS_API_KEY);
    const folder = await folderWith({ 'public/index.html': embed(1), 'snippets.config.js': written });
    expect(await runs(folder, ['inline', 'public'], 1)).toContain(message);
  });

  test.for([
    ['cjs', "module.exports = { scripts: 'strip' };"],
    ['mts', "export default { scripts: 'strip' as const };"],
    ['cts', "module.exports = { scripts: 'strip' };"],
  ] as const)('come from snippets.config.%s, too', async ([extension, config]) => {
    service.put(1, '<b onclick="go()">one</b>');
    const folder = await folderWith({
      'public/index.html': embed(1),
      [`snippets.config.${extension}`]: config,
    });
    await runs(folder, ['inline', 'public']);
    expect(await folder.read('public/index.html')).toBe('<b >one</b>');
  });

  test.for([
    ['json', '{ "scripts": "strip" }'],
    ['jsonc', '{ "scripts": "strip" }'],
    ['yaml', 'scripts: strip'],
    ['toml', 'scripts = "strip"'],
  ] as const)('in snippets.config.%s are an error, and not left out', async ([extension, config]) => {
    const folder = await folderWith({
      'public/index.html': embed(1),
      [`snippets.config.${extension}`]: config,
    });
    const said = `snippets.config.${extension} is no module, so its options cannot be read.`;
    expect(await runs(folder, ['inline', 'public'], 1)).toContain(said);
  });

  test('in two files are an error, and files that only have a similar name are none', async () => {
    const folder = await folderWith({
      'public/index.html': embed(1),
      'snippets.config.ts': 'export default {};',
      'snippets.config.mjs': 'export default {};',
    });
    const said = 'There are several configs: snippets.config.mjs, snippets.config.ts.';
    expect(await runs(folder, ['inline', 'public'], 1)).toContain(said);
    const similar = await folderWith({
      'public/index.html': embed(1),
      'snippets.config.js.map': '{}',
      'snippets.config.d.ts': '',
      'snippets.config.example': '',
      'my.snippets.config.js': 'export default { unknown: 1 };',
    });
    await runs(similar, ['inline', 'public']);
  });

  test('in a config that is a broken link are an error', async () => {
    const folder = await folderWith({ 'public/index.html': embed(1) });
    symlinkSync('missing.js', join(folder.directory, 'snippets.config.js'));
    expect(await runs(folder, ['inline', 'public'], 1)).toContain('snippets.config.js could not be');
  });

  test('may be written in TypeScript: csp, and params by page and language', async () => {
    service.put(1, '<script>go()</script>{{ page }} {{ locale }}');
    const policy = `<meta http-equiv="content-security-policy" content="script-src 'self'">`;
    const folder = await folderWith({
      'public/de/about.html': `<html lang="de">${policy}<p>${embed(1)}</p></html>`,
      'snippets.config.ts':
        "export default { csp: 'hash' as const, params: ({ page, lang }: Record<string, string>) => ({ page, locale: lang }) };",
    });
    await runs(folder, ['inline', 'public']);
    const page = await folder.read('public/de/about.html');
    expect(page).toMatch(/script-src 'self' 'sha256-[^']+'/);
    expect(page).toContain('</script>/de/about/ de</p>');
  });

  test('--render-base-url and --retrieve-base-url win over the environment', async () => {
    const folder = await folderWith({ 'public/index.html': embed(1) });
    const none = { SNIPPETS_RENDER_BASE_URL: '', SNIPPETS_RETRIEVE_BASE_URL: '' };
    const inlined = (flag: string, url: string) => run(folder, ['inline', 'public', flag, url], none);
    expect((await inlined('--render-base-url', 'http://localhost:1')).output).toContain('renderBaseUrl');
    expect(await inlined('--retrieve-base-url', service.retrieveBaseUrl)).toMatchObject({ exitCode: 0 });
    expect(service.requests().at(-1)?.variant).toBe('retrieve');
    expect(await folder.read('public/index.html')).toBe('<b>one</b>');
  });

  test('--concurrency is how many requests are under way at once', async () => {
    const pages = [1, 2, 1, 2].map((id, page) => [
      `public/${page}.html`,
      `<snippet-embed id="${id}" params='{"page":${page}}'></snippet-embed>`,
    ]);
    const folder = await folderWith(Object.fromEntries(pages));
    let arrived = 0;
    const held = service.hold(() => arrived++ < 2);
    const before = service.requests().length;
    const ended = runs(folder, ['inline', 'public', '--concurrency', '2']);
    await held.asked(2);
    // A third request would have been sent with these two, and arrived before this one.
    await runs(folder, ['get', '1']);
    expect(service.requests().length - before).toBe(1);
    held.release();
    await ended;
  });

  test('--offline uses the cache that --stale-if-error fills', async () => {
    const folder = await folderWith({ 'public/index.html': embed(1) });
    const refused = await runs(folder, ['inline', 'public', '--offline'], 1);
    expect(refused).toContain('Snippet 1: is not in the cache, and `offline` is set. [not-cached]');
    expect(refused).toContain('without `offline` and with the same key and base URLs');
    await runs(folder, ['inline', 'public', '--stale-if-error', '1d']);
    await folder.write({ 'public/index.html': `<p>${embed(1)}</p>` });
    const asked = service.requests().length;
    await runs(folder, ['inline', 'public', '--offline']);
    expect(service.requests()).toHaveLength(asked);
    expect(await folder.read('public/index.html')).toBe('<p><b>one</b></p>');
  });
});

test('a folder that another process is writing to is left alone, and the process is named', async () => {
  const folder = await folderWith({ 'public/index.html': embed(1) });
  const holder = { work: 'build', token: 't', pid: 1, host: 'web-1' };
  await folder.write({ '.cache/astro-snippets/manifest.public.lock': JSON.stringify(holder) });
  const output = await runs(folder, ['inline', 'public'], 1);
  expect(output).toContain('public is in use by another astro-snippets process (pid 1 on web-1). ');
  expect(await folder.read('public/index.html')).toBe(embed(1));
});

test('a command that inlines for the first time and then fails runs again with the next check', async () => {
  const folder = await folderWith({ 'public/index.html': embed(1) });
  const command = `"${process.execPath}" "${snippetsCommand}" inline public && exit 7`;
  await runs(folder, ['check', '--exec', command], 7);
  const again = await runs(folder, ['check', '--exec', 'echo deployed']);
  expect(again).toContain('The last --exec command failed. Running it again.');
  expect(again).toContain('deployed');
  expect(await runs(folder, ['check', '--exec', 'echo deployed'])).not.toContain('deployed');
});

test('a feed of another generator that has lost the snippets of a page is a warning', async () => {
  const folder = await folderWith({
    'public/posts/one.html': `<body><article>Before ${embed(1)} after.</article></body>`,
    'public/feed.xml':
      '<rss><item><link>https://site.test/posts/one</link><description>Before after.</description></item></rss>',
  });
  const warning =
    'feed.xml: has the text of pages without the snippets in it: https://site.test/posts/one (snippet 1).';
  expect(await runs(folder, ['inline', 'public'])).toContain(warning);
  // A later run makes the page again from what the generator has written.
  service.put(1, '<b>new</b>');
  expect(await runs(folder, ['inline', 'public'])).toContain(warning);
  service.put(1, '<b>one</b>');
});
