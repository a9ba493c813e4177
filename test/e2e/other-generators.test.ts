import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { sharedService } from '../support/site/built-site.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';
import { cleanEnvironment } from '../support/tools/environment.ts';

const execute = promisify(execFile);

const service = await sharedService({});
beforeEach(() => {
  service.put(1, '<b>one</b>');
  service.put(2, 'two & more');
  service.put(3, '<ul><li>three</li></ul>');
  service.put(4, 'four');
});

const post = `---
title: 'Post <snippet-embed id="2"></snippet-embed>'
---
Hello, <snippet-embed id="1"></snippet-embed>.

<snippet-embed id="3"></snippet-embed>

Write \`<snippet-embed id="9"></snippet-embed>\`.
`;

interface Generator {
  command: string;
  arguments: string[];
  /** Its output folder. */
  output: string;
  files: Record<string, string>;
}

const eleventy = join(import.meta.dirname, '../../node_modules/@11ty/eleventy/cmd.cjs');

const generators: Record<'Eleventy' | 'Hugo', Generator> = {
  Eleventy: {
    command: process.execPath,
    arguments: [eleventy, '--quiet'],
    output: '_site',
    files: {
      'eleventy.config.js': `
        export default function (config) {
          config.setInputDirectory('content');
          config.addPassthroughCopy({ static: '/' });
        }`,
      'package.json': '{ "type": "module" }',
      'static/robots.txt': 'User-agent: *\n',
      // Nunjucks escapes the title, but not the body.
      'content/_includes/page.njk':
        '<!doctype html><title>{{ title }}</title><body>{{ content | safe }}</body>',
      'content/content.11tydata.js': "export default { layout: 'page.njk' };",
      'content/feed.njk':
        '---\nlayout: false\neleventyExcludeFromCollections: true\npermalink: index.xml\n---\n<rss>{% for one in collections.all %}<item><description>{{ one.content | escape }}</description></item>{% endfor %}</rss>',
    },
  },
  Hugo: {
    command: 'hugo',
    arguments: ['--quiet'],
    output: 'public',
    files: {
      'config.toml':
        'baseURL = "https://example.com/"\ntitle = "Site"\ndisableKinds = ["taxonomy", "term", "sitemap"]\n[markup.goldmark.renderer]\nunsafe = true\n',
      'layouts/_default/single.html': '<!doctype html><title>{{ .Title }}</title><body>{{ .Content }}</body>',
      'layouts/_default/list.html': '<!doctype html><title>{{ .Title }}</title><body>{{ .Content }}</body>',
      'layouts/_default/rss.xml':
        '<rss><channel>{{ range .Site.RegularPages }}<item><description>{{ .Content | html }}</description></item>{{ end }}</channel></rss>',
    },
  },
};

describe.for(Object.entries(generators))('%s', ([name, generator]) => {
  const { command, arguments: arguments_, output, files } = generator;
  const generate = async ({ directory }: Folder) => {
    await execute(command, arguments_, { cwd: directory, env: cleanEnvironment() });
  };
  const run = async ({ directory }: Folder, arguments_: string[], status = 0): Promise<string> => {
    const { exitCode, output } = await cli(directory, arguments_, service.environment);
    expect(exitCode, output).toBe(status);
    return output;
  };

  test(`inlines what ${name} writes, again and again, refreshes it, and keeps a page that is no longer written`, async () => {
    const folder = await folderWith({
      ...files,
      'content/post.md': post,
      'content/old.md': '---\ntitle: Old\n---\n<snippet-embed id="4"></snippet-embed>',
    });
    await generate(folder);
    expect(await folder.read(`${output}/post/index.html`)).toContain('<snippet-embed');
    await run(folder, ['inline', output]);
    const page = await folder.read(`${output}/post/index.html`);
    expect(page).toContain('<title>Post two &amp; more</title>');
    expect(page).toContain('<p>Hello, <b>one</b>.</p>');
    expect(page).toContain('<ul><li>three</li></ul>');
    expect(page).not.toMatch(/<p>\s*<ul>/);
    expect(page).toMatch(
      /<code[^>]*>&lt;snippet-embed id=(&quot;|")9(&quot;|")&gt;&lt;\/snippet-embed&gt;<\/code>/,
    );
    expect(await folder.read(`${output}/index.xml`)).toContain('Hello, &lt;b&gt;one&lt;/b&gt;.');
    const listed = await run(folder, ['list']);
    // The order depends on the order in which a generator wrote the files.
    expect(listed.split(/^(?=Snippet)/m).sort()).toEqual([
      'Snippet 1\n    index.xml\n    post/index.html\n',
      'Snippet 2\n    post/index.html\n',
      'Snippet 3\n    index.xml\n    post/index.html\n',
      'Snippet 4\n    index.xml\n    old/index.html\n',
    ]);

    // A second run gives the same, whether the generator has written its files again or not.
    const first = await folder.files(output);
    await run(folder, ['inline', output]);
    expect(await folder.files(output)).toEqual(first);
    await generate(folder);
    await run(folder, ['inline', output]);
    expect(await folder.files(output)).toEqual(first);
    expect(await run(folder, ['list'])).toBe(listed);

    service.put(1, '<b>changed</b>');
    expect(await run(folder, ['check'], 10)).toContain(
      'Snippet 1 has changed\n    index.xml\n    post/index.html',
    );
    await run(folder, ['refresh']);
    const refreshed = await folder.files(output);
    await generate(folder);
    await run(folder, ['inline', output]);
    expect(await folder.files(output)).toEqual(refreshed);

    await rm(join(folder.directory, 'content/old.md'));
    await generate(folder);
    await run(folder, ['inline', output]);
    service.put(4, 'changed too');
    await run(folder, ['refresh']);
    expect(await folder.read(`${output}/old/index.html`)).toContain('changed too');
  });
});
