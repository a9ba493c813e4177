import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startCommand } from '../support/command.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { snippetsCommand } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporarySite } from '../support/site.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({});
});
beforeEach(() => {
  service.clearFaults();
  service.put(1, '<b>one</b>');
  service.put(2, 'two & more');
});
afterAll(() => service.close());

const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;

async function folderWith(files: Record<string, string | Buffer>): Promise<Folder> {
  const folder = await createFolder(files);
  onTestFinished(() => folder.remove());
  return folder;
}

const run = (
  { directory }: Pick<Folder, 'directory'>,
  arguments_: string[],
  environment: Record<string, string> = {},
) => startCommand(directory, arguments_, { ...service.environment, ...environment }).ended;

/** Fails with the output of the command, unless it exits with this status. */
async function runs(folder: Folder, arguments_: string[], status = 0): Promise<string> {
  const { exitCode, output } = await run(folder, arguments_);
  expect(exitCode, output).toBe(status);
  return output;
}

describe('astro-snippets inline, in place', () => {
  test('inlines pages, feeds and JSON of a folder, and leaves every other byte', async () => {
    const folder = await folderWith({
      'public/index.html': `<title>${embed(2)}</title>\n<p>${embed(1)}</p>\n`,
      'public/feed.xml': `<rss><item><description><![CDATA[${embed(1)}]]></description></item></rss>`,
      'public/data.json': JSON.stringify({ html: embed(1) }),
      'public/app.js': `const embed = '${embed(1)}';`,
      'public/plain.html': '<p>plain</p>',
    });
    const output = await runs(folder, ['inline', 'public']);
    expect(output).toContain('2 snippets in 4 embeds in 3 files');
    expect(await folder.files('public')).toEqual({
      'app.js': `const embed = '${embed(1)}';`,
      'data.json': JSON.stringify({ html: '<b>one</b>' }),
      'feed.xml': '<rss><item><description><![CDATA[<b>one</b>]]></description></item></rss>',
      'index.html': '<title>two &amp; more</title>\n<p><b>one</b></p>\n',
      'plain.html': '<p>plain</p>',
    });
  });

  test('keeps its record in .cache, which git ignores, and never in the folder that is published', async () => {
    const folder = await folderWith({ 'public/index.html': embed(1) });
    await runs(folder, ['inline', 'public']);
    const names = Object.keys(await folder.files()).filter((name) => !name.includes('/answers/'));
    expect(names).toEqual([
      '.cache/astro-snippets/.gitignore',
      '.cache/astro-snippets/manifest.public.json',
      'public/index.html',
    ]);
    expect(await folder.read('.cache/astro-snippets/.gitignore')).toBe('*\n');
  });

  test('list, check, refresh and report find the record by themselves and work as for Astro', async () => {
    const folder = await folderWith({ '_site/index.html': `<p>${embed(1)}</p>`, '_site/feed.txt': embed(2) });
    await runs(folder, ['inline', '_site']);
    expect(await runs(folder, ['list'])).toBe('Snippet 2\n    feed.txt\nSnippet 1\n    index.html\n');
    expect(await runs(folder, ['check'])).toContain('Nothing has changed: 2 snippets match');
    service.put(1, '<b>another</b>');
    expect(await runs(folder, ['check'], 10)).toContain('Snippet 1 has changed\n    index.html');
    await runs(folder, ['refresh']);
    expect(await folder.read('_site/index.html')).toBe('<p><b>another</b></p>');
    await runs(folder, ['check']);
    await runs(folder, ['report']);
    expect(await folder.read('snippets-report.html')).toContain('index.html');
  });

  test('a second run changes nothing and forgets nothing', async () => {
    const folder = await folderWith({ 'public/a.html': `<p>${embed(1)}</p>`, 'public/b.html': embed(2) });
    await runs(folder, ['inline', 'public']);
    const before = await folder.files('public');
    const listed = await runs(folder, ['list']);
    const { mtimeMs } = await stat(join(folder.directory, 'public/a.html'));
    const output = await runs(folder, ['inline', 'public']);
    expect(output).toContain('2 files are as an earlier run left them.');
    expect(await folder.files('public')).toEqual(before);
    expect((await stat(join(folder.directory, 'public/a.html'))).mtimeMs).toBe(mtimeMs);
    expect(await runs(folder, ['list'])).toBe(listed);
  });

  test('a file that the generator wrote again is inlined again, and the others stay in the record', async () => {
    const folder = await folderWith({ 'public/a.html': `<p>${embed(1)}</p>`, 'public/b.html': embed(1) });
    await runs(folder, ['inline', 'public']);
    await folder.write({ 'public/a.html': `<h1>${embed(2)}</h1>` });
    await runs(folder, ['inline', 'public']);
    expect(await folder.read('public/a.html')).toBe('<h1>two & more</h1>');
    expect(await runs(folder, ['list'])).toBe('Snippet 2\n    a.html\nSnippet 1\n    b.html\n');
  });

  test('a file that the generator wrote again without embeds is no longer in the record', async () => {
    const folder = await folderWith({ 'public/a.html': embed(1), 'public/b.html': embed(2) });
    await runs(folder, ['inline', 'public']);
    await folder.write({ 'public/a.html': '<p>plain</p>' });
    await runs(folder, ['inline', 'public']);
    expect(await runs(folder, ['list'])).toBe('Snippet 2\n    b.html\n');
  });

  test('a file of an earlier run shows what the service publishes now, in its compressed copy too', async () => {
    const folder = await folderWith({ 'public/a.html': `<p>${embed(1)}</p>`, 'public/b.html': embed(2) });
    await runs(folder, ['inline', 'public']);
    const page = await readFile(join(folder.directory, 'public/a.html'));
    await folder.write({ 'public/a.html.gz': gzipSync(page), 'public/b.html': embed(2) });
    service.put(1, '<i>changed</i>');
    expect(await runs(folder, ['inline', 'public'])).toContain('a.html is up to date');
    expect(await folder.read('public/a.html')).toBe('<p><i>changed</i></p>');
    const compressed = await readFile(join(folder.directory, 'public/a.html.gz'));
    expect(gunzipSync(compressed).toString()).toBe('<p><i>changed</i></p>');
    expect(await runs(folder, ['check'])).toContain('Nothing has changed');
  });

  test('an embed inside the content of a snippet stays, also in a second run', async () => {
    service.put(1, `<p>Write ${embed(99)}</p>`);
    const folder = await folderWith({ 'public/a.html': embed(1) });
    await runs(folder, ['inline', 'public']);
    await runs(folder, ['inline', 'public']);
    expect(await folder.read('public/a.html')).toBe(`<p>Write ${embed(99)}</p>`);
  });

  test('a page that was compressed with its embeds gets a compressed file with its snippets', async () => {
    const page = `<p>${embed(1)}</p>`;
    const folder = await folderWith({ 'public/a.html': page, 'public/a.html.gz': gzipSync(page) });
    await runs(folder, ['inline', 'public']);
    const compressed = await readFile(join(folder.directory, 'public/a.html.gz'));
    expect(gunzipSync(compressed).toString()).toBe('<p><b>one</b></p>');
  });

  test('other rules for HTML are applied to files of earlier runs', async () => {
    service.put(1, '<b onclick="go()">one</b>');
    const folder = await folderWith({ 'public/a.html': embed(1), 'public/b.html': '<p>plain</p>' });
    await runs(folder, ['inline', 'public']);
    await runs(folder, ['inline', 'public', '--scripts', 'strip']);
    expect(await folder.read('public/a.html')).not.toContain('onclick');
  });

  test('in a project with an Astro config, the record is where that of a build would be', async () => {
    const folder = await folderWith({ 'public/a.html': embed(1), 'astro.config.mjs': '' });
    await runs(folder, ['inline', 'public']);
    await folder.read('node_modules/.astro/astro-snippets/manifest.public.json');
    expect(await runs(folder, ['inline', 'public'])).toContain('1 file is as an earlier run left it.');
  });

  test('a folder without embeds needs no key, and can be listed and checked', async () => {
    const folder = await folderWith({ 'public/a.html': '<p>plain</p>' });
    const { exitCode } = await run(folder, ['inline', 'public'], { SNIPPETS_API_KEY: '' });
    expect(exitCode).toBe(0);
    expect(await runs(folder, ['list'])).toBe('The site shows no snippets.\n');
  });
});

describe('astro-snippets inline writes nothing when', () => {
  const fails = async (folder: Folder, message: string, flags: string[] = []) => {
    const before = await folder.files('public');
    const output = await runs(folder, ['inline', 'public', ...flags], 1);
    expect(output).toContain(message);
    expect(await folder.files('public')).toEqual(before);
  };

  test('a snippet does not exist, and says on which page', async () => {
    const folder = await folderWith({ 'public/a.html': embed(1), 'public/b.html': embed(404) });
    await fails(folder, 'Snippet 404: 404 Not Found [not-found]');
    expect(await runs(folder, ['check'], 3)).toContain('No build manifest found');
  });

  test('an embed is invalid, and names the file and the line', async () => {
    const folder = await folderWith({
      'public/a.html': embed(1),
      'public/b.html': '<p>\n<snippet-embed id="x">',
    });
    await fails(folder, 'b.html:2\n');
  });

  test('the key is in a file that the generator wrote', async () => {
    const key = service.environment.SNIPPETS_API_KEY;
    const folder = await folderWith({ 'public/a.html': embed(1), 'public/app.js': `const key = '${key}';` });
    await fails(folder, 'The API key was found in app.js. Nothing was written. [published-key]');
  });

  test('a content contains the key', async () => {
    service.put(1, `<p>${service.environment.SNIPPETS_API_KEY}</p>`);
    const folder = await folderWith({ 'public/a.html': embed(1), 'public/b.html': embed(2) });
    await fails(folder, 'The API key was found in a.html. Nothing was written. [published-key]');
  });

  test('a compressed file holds something else than the page beside it', async () => {
    const folder = await folderWith({
      'public/a.html': embed(1),
      'public/b.html': embed(2),
      'public/b.html.gz': gzipSync('something else'),
    });
    await fails(folder, 'b.html.gz does not decompress to the file beside it. Nothing was written.');
  });

  test('a script is refused, as in a build', async () => {
    service.put(1, '<script>go()</script>');
    const folder = await folderWith({ 'public/a.html': embed(1), 'public/b.html': embed(2) });
    await fails(folder, '[script-refused]', ['--scripts', 'error']);
  });

  test('a run that failed has not forgotten the files of the one before', async () => {
    const folder = await folderWith({ 'public/a.html': embed(1) });
    await runs(folder, ['inline', 'public']);
    await folder.write({ 'public/b.html': embed(404) });
    await fails(folder, '[not-found]');
    // The folder has an embed in it, so there is nothing to compare with.
    await runs(folder, ['check'], 3);
    await folder.write({ 'public/b.html': embed(2) });
    await runs(folder, ['inline', 'public']);
    expect(await runs(folder, ['list'])).toBe('Snippet 2\n    b.html\nSnippet 1\n    a.html\n');
  });
});

test('astro-snippets inline leaves the output of an Astro build to a refresh', async () => {
  const site = await temporarySite({ 'src/pages/index.html': `<p>${embed(1)}</p>` });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  service.put(1, '<b>new</b>');
  const { exitCode, output } = await run(site, ['inline', 'dist']);
  expect([exitCode, output]).toEqual([
    2,
    expect.stringContaining('dist is the output of an Astro build, which has inlined its snippets.'),
  ]);
  expect(output).toContain('`astro-snippets refresh`');
  expect(await site.read('index.html')).toContain('<b>one</b>');
  expect((await run(site, ['refresh'])).exitCode).toBe(0);
  // Another generator writes there now.
  const [, record = ''] = /delete (\S+) first/.exec(output) ?? [];
  await rm(join(site.directory, record));
  await site.write({ 'dist/index.html': embed(1) });
  expect((await run(site, ['inline', 'dist'])).exitCode).toBe(0);
  expect(await site.read('index.html')).toBe('<b>new</b>');
});

describe('astro-snippets inline --output', () => {
  test('leaves the input as it is, and writes everything of it to the output', async () => {
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
    expect(await runs(folder, ['list'])).toBe('Snippet 1\n    index.html\n');
    service.put(1, '<b>new</b>');
    await runs(folder, ['refresh']);
    expect(await folder.read('www/index.html')).toBe('<p><b>new</b></p>');
  });

  test('a second run changes nothing, and keeps what only the output has', async () => {
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

  test('a run that fails leaves the output and its record', async () => {
    const folder = await folderWith({ 'site/a.html': embed(1) });
    await runs(folder, ['inline', 'site', '--output', 'www']);
    await folder.write({ 'site/new/b.html': embed(404), 'site/a.html': `<p>${embed(2)}</p>` });
    await runs(folder, ['inline', 'site', '--output', 'www'], 1);
    expect(await folder.files('www')).toEqual({ 'a.html': '<b>one</b>' });
    expect(await runs(folder, ['check'])).toContain('Nothing has changed');
  });

  test('a first run that fails leaves no output', async () => {
    const key = service.environment.SNIPPETS_API_KEY;
    const folder = await folderWith({ 'site/sub/a.html': embed(1), 'site/app.js': key });
    await runs(folder, ['inline', 'site', '--output', 'www'], 1);
    await expect(stat(join(folder.directory, 'www'))).rejects.toThrow('ENOENT');
  });

  test('a project whose root is the input keeps its record out of the output', async () => {
    // The record's folder has it in an answer of the service, where it must not be searched for.
    service.put(1, `<p>Write ${embed(99)}</p>`);
    const folder = await folderWith({ 'site/index.html': embed(1) });
    const project = { ...folder, directory: join(folder.directory, 'site') };
    await runs(project, ['inline', '.', '--output', '../www']);
    await runs(project, ['inline', '.', '--output', '../www']);
    expect(await folder.files('www')).toEqual({ 'index.html': `<p>Write ${embed(99)}</p>` });
    expect(await runs(project, ['list'])).toBe('Snippet 1\n    index.html\n');
  });
});

describe('astro-snippets inline exits with 2 for', () => {
  test.each([
    ['a folder that does not exist', ['inline', 'nowhere'], 'The folder nowhere does not exist.'],
    ['a file', ['inline', 'public/index.html'], 'is not a folder'],
    ['no folder', ['inline'], "missing required argument 'folder'"],
    ['an invalid flag', ['inline', 'public', '--timeout', '10'], 'must be a duration with its unit'],
    ['an output inside the input', ['inline', 'public', '--output', 'public/out'], '[unusable-output]'],
    ['an input inside the output', ['inline', 'public', '--output', '.'], '[unusable-output]'],
    ['a record that would be published', ['inline', '.'], 'would be published. [unusable-output]'],
  ])('%s', async (_what, arguments_, message) => {
    const folder = await folderWith({ 'public/index.html': embed(1) });
    expect(await runs(folder, arguments_, 2)).toContain(message);
    expect(await folder.read('public/index.html')).toBe(embed(1));
  });
});

describe('the options of astro-snippets inline come from', () => {
  test('snippets.config.js, and flags win over it', async () => {
    service.put(1, '<b onclick="go()">one</b>');
    const folder = await folderWith({
      'public/index.html': embed(1),
      'public/docs/index.html': embed(1),
      'snippets.config.js': "export default { exclude: 'docs/**', scripts: 'error' };",
    });
    expect(await runs(folder, ['inline', 'public'], 1)).toContain('[script-refused]');
    await runs(folder, ['inline', 'public', '--scripts', 'strip']);
    expect(await folder.files('public')).toEqual({
      'docs/index.html': embed(1),
      'index.html': '<b >one</b>',
    });
  });

  test('a sanitizer in snippets.config.mjs', async () => {
    const folder = await folderWith({
      'public/index.html': embed(1),
      'snippets.config.mjs': "export default { sanitize: (html) => html.replace(/<\\/?b>/g, '') };",
    });
    await runs(folder, ['inline', 'public']);
    expect(await folder.read('public/index.html')).toBe('one');
  });

  test.each([
    ['an unknown option', 'export default { apiKey: "x" };', '"apiKey" is not an option'],
    ['no object', 'export default 1;', 'the options: '],
    ['a syntax error', 'export default {', 'snippets.config.js could not be loaded'],
  ])('a config with %s is an error that names the file', async (_what, config, message) => {
    const folder = await folderWith({ 'public/index.html': embed(1), 'snippets.config.js': config });
    const output = await runs(folder, ['inline', 'public'], 1);
    expect(output).toContain('snippets.config.js');
    expect(output).toContain(message);
  });

  test('a config that contains the key is refused', async () => {
    const key = service.environment.SNIPPETS_API_KEY;
    const folder = await folderWith({
      'public/index.html': embed(1),
      'snippets.config.js': `export default { exclude: '${key}' };`,
    });
    expect(await runs(folder, ['inline', 'public'], 1)).toContain('snippets.config.js contains the API key.');
  });

  test('csp: "hash" allows inline scripts in the policy of a page', async () => {
    service.put(1, '<script>go()</script>');
    const folder = await folderWith({
      'public/index.html': `<meta http-equiv="content-security-policy" content="script-src 'self'">${embed(1)}`,
      'snippets.config.js': "export default { csp: 'hash' };",
    });
    await runs(folder, ['inline', 'public']);
    expect(await folder.read('public/index.html')).toMatch(/script-src 'self' 'sha256-[^']+'/);
  });
});

describe('astro-snippets inline, one at a time:', () => {
  test('a folder that another process writes to is left alone, and the process is named', async () => {
    const folder = await folderWith({ 'public/index.html': embed(1) });
    const since = new Date().toISOString();
    const holder = { work: 'build', token: 't', pid: 1, host: 'web-1', since };
    await folder.write({ '.cache/astro-snippets/manifest.public.lock': JSON.stringify(holder) });
    const output = await runs(folder, ['inline', 'public'], 1);
    expect(output).toContain('public is in use by the build of process 1 on web-1');
    expect(await folder.read('public/index.html')).toBe(embed(1));
  });
});

describe('after a run that was killed while it wrote', () => {
  test('the next one completes the folder and its record', async () => {
    const folder = await folderWith({ 'public/a.html': `<p>${embed(1)}</p>`, 'public/b.html': embed(2) });
    await runs(folder, ['inline', 'public']);
    const record = join(folder.directory, '.cache/astro-snippets/manifest.public.json');
    const written = await readFile(record);
    await rm(record);
    await writeFile(`${record}.unfinished`, written);
    // One page was written, another one was not.
    await folder.write({ 'public/b.html': embed(2), 'public/b.html.inline.tmp': 'two' });
    await runs(folder, ['check'], 3);
    await runs(folder, ['inline', 'public']);
    expect(await folder.files('public')).toEqual({ 'a.html': '<p><b>one</b></p>', 'b.html': 'two & more' });
    expect(await runs(folder, ['list'])).toBe('Snippet 2\n    b.html\nSnippet 1\n    a.html\n');
  });
});

test('a command that inlines for the first time and then fails is run again by the next check', async () => {
  const folder = await folderWith({ 'public/index.html': embed(1) });
  const command = `"${process.execPath}" "${snippetsCommand}" inline public && exit 7`;
  await runs(folder, ['check', '--exec', command], 7);
  const again = await runs(folder, ['check', '--exec', 'echo deployed']);
  expect(again).toContain('has not succeeded since the last change');
  expect(again).toContain('deployed');
  expect(await runs(folder, ['check', '--exec', 'echo deployed'])).not.toContain('deployed');
});

describe('astro-snippets inline, with options for snippets that are not there', () => {
  const optional = (id: number, children: string) =>
    `<snippet-embed id="${id}" optional>${children}</snippet-embed>`;

  test('an optional snippet that appears replaces its children in a file of an earlier run', async () => {
    const folder = await folderWith({ 'public/index.html': `<p>${optional(7, 'old')} ${embed(1)}</p>` });
    expect(await runs(folder, ['inline', 'public'])).toContain('1 optional snippet not found');
    expect((await folder.files('public'))['index.html']).toBe('<p>old <b>one</b></p>');
    await runs(folder, ['inline', 'public']);
    expect((await folder.files('public'))['index.html']).toBe('<p>old <b>one</b></p>');
    await runs(folder, ['check']);
    service.put(7, 'new');
    expect(await runs(folder, ['inline', 'public'])).toContain('index.html is up to date');
    expect((await folder.files('public'))['index.html']).toBe('<p>new <b>one</b></p>');
    await runs(folder, ['check']);
    service.unpublish(7);
  });

  test("without a key, missingKey: 'children' shows children and leaves no record", async () => {
    const folder = await folderWith({
      'public/index.html': '<p><snippet-embed id="1">child</snippet-embed></p>',
      'snippets.config.js': "export default { missingKey: 'children' };",
    });
    const { exitCode, output } = await run(folder, ['inline', 'public'], { SNIPPETS_API_KEY: '' });
    expect(exitCode, output).toBe(0);
    expect(output).toContain('embeds show their children');
    expect((await folder.files('public'))['index.html']).toBe('<p>child</p>');
    expect(await runs(folder, ['check'], 3)).toContain('No build manifest found');
  });

  test("without a key, missingKey: 'children' does not forget files of an earlier run", async () => {
    const folder = await folderWith({
      'public/index.html': embed(1),
      'snippets.config.js': "export default { missingKey: 'children' };",
    });
    await runs(folder, ['inline', 'public']);
    await writeFile(join(folder.directory, 'public/new.html'), embed(2));
    const { exitCode, output } = await run(folder, ['inline', 'public'], { SNIPPETS_API_KEY: '' });
    expect(exitCode, output).toBe(1);
    expect(output).toContain('SNIPPETS_API_KEY is not set');
    expect(await folder.files('public')).toEqual({ 'index.html': '<b>one</b>', 'new.html': embed(2) });
    await runs(folder, ['inline', 'public']);
    expect(await folder.files('public')).toEqual({
      'index.html': '<b>one</b>',
      'new.html': 'two & more',
    });
  });

  test('params by page and language are passed, and options that need Astro are refused', async () => {
    service.put(8, '{{ page }} {{ locale }}');
    const config = 'params: ({ page, lang }) => ({ page, locale: lang })';
    const folder = await folderWith({
      'public/de/about.html': `<html lang="de"><p>${embed(8)}</p></html>`,
      'snippets.config.js': `export default { ${config} };`,
    });
    await runs(folder, ['inline', 'public']);
    expect((await folder.files('public'))['de/about.html']).toBe(
      '<html lang="de"><p>/de/about/ de</p></html>',
    );
    for (const option of ["links: 'base'", "editLinks: true, editUrl: (id) => '/edit/' + id"]) {
      await writeFile(join(folder.directory, 'snippets.config.js'), `export default { ${option} };`);
      const refused = `\`${option.slice(0, option.indexOf(':'))}\` works in Astro sites only`;
      expect(await runs(folder, ['inline', 'public'], 1)).toContain(refused);
    }
  });
});
