import { mkdir, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { StagedFiles } from '../../src/files/staged-files.ts';
import { temporaryService } from '../support/service/service.ts';
import { copyOfEverything, type Everything } from '../support/site/everything.ts';
import { changeRecord } from '../support/site/records.ts';
import { configWith, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

// The output may differ from a record that is up to date.

/** Changes of the output by something else, and what a refresh says. */
const untrue: [what: string, change: (site: Everything) => Promise<unknown>, says: string][] = [
  ['a page that was deleted', (site) => rm(at(site, 'index.html')), 'index.html is missing'],
  [
    'a page that was rolled back',
    async (site) => {
      const before = await readFile(at(site, 'about.html'));
      site.service.put(2, 'newer text about us');
      expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
      await writeFile(at(site, 'about.html'), before);
    },
    'about.html is as it was before the last change on record',
  ],
  [
    'a page that was rolled back, with a time that a tool gives to every build',
    async (site) => {
      const inSeconds = () => utimes(at(site, 'about.html'), 1, 1);
      await inSeconds();
      const before = await readFile(at(site, 'about.html'));
      site.service.put(2, 'about it');
      await site.run('refresh');
      await inSeconds();
      await changeRecord(site.record, (record) => {
        for (const file of record.files) if (file[0] === 'about.html') file[6] = 1_000;
        return record;
      });
      await writeFile(at(site, 'about.html'), before);
      await inSeconds();
    },
    'about.html is as it was before the last change on record',
  ],
  [
    'a page that was built without the integration',
    (site) => writeFile(at(site, 'about.html'), '<p><snippet-embed id="2"></snippet-embed></p>'),
    'about.html has embeds: it was written without their snippets',
  ],
  [
    'a page that shows something else',
    (site) => writeFile(at(site, 'about.html'), '<p>Gone.</p>'),
    'about.html was changed after the build, and does not show what the record says',
  ],
];

const at = (site: Everything, name: string) => join(site.directory, 'dist', name);

test.for(untrue)(
  'while no snippet has changed, a refresh and check --output exit with 3 for %s',
  async ([, change, says]) => {
    const site = await copyOfEverything();
    await change(site);
    for (const command of [['refresh'], ['refresh', '--dry-run'], ['check', '--output', 'dist']]) {
      const { exitCode, stdout } = await site.run(...command);
      expect(stdout, command.join(' ')).toContain(`${says}\n`);
      expect(exitCode, command.join(' ')).toBe(3);
    }
    // Without --output, only missing pages are looked for.
    const { exitCode, stdout } = await site.run('check');
    expect(exitCode, stdout).toBe(says.endsWith('is missing') ? 3 : 0);
  },
);

test('for an output folder that was deleted, a refresh exits with 3, and a check speaks of the record', async () => {
  const site = await copyOfEverything();
  await rm(join(site.directory, 'dist'), { recursive: true });
  expect(await exits(3, site.run('refresh'))).toContain('The output folder is missing\n');
  await exits(0, site.run('check'));
  // An empty folder, such as the mount point of a volume, says no more than a missing one.
  await mkdir(join(site.directory, 'dist'));
  await exits(0, site.run('check'));
});

describe('after inlining, an integration', () => {
  const siteWith = async (code: string) => {
    const service = await temporaryService({ 1: 'one', 2: 'two' });
    const site = await temporarySite(
      {
        'late.mjs': `
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
const late = (hook, work) => ({ name: 'late', hooks: { [hook]: ({ dir }) => (process.chdir(new URL(dir).pathname), work()) } });
const compress = () => {
  for (const name of readdirSync('.', { recursive: true }).filter((name) => name.endsWith('.html'))) {
    writeFileSync(name + '.gz', gzipSync(readFileSync(name)));
    rmSync(name);
  }
};
export const integration = ${code};`,
        'astro.config.mjs': configWith('', {
          imports: `import { integration } from './late.mjs';`,
          integrations: 'integration, ',
        }),
        'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
        'src/pages/about.html': '<p>about <snippet-embed id="2"></snippet-embed></p>',
      },
      service,
    );
    return { site, service };
  };
  const done = (work: string) => `late('astro:build:done', () => { ${work} })`;

  test('may move a page: the build says so, and a refresh updates it there', async () => {
    const { site, service } = await siteWith(
      done(`renameSync('about/index.html', 'about.html'); rmSync('about', { recursive: true });`),
    );
    expect(await site.builds()).toContain(
      '[astro-snippets] late moved about/index.html to about.html after snippets were inlined.',
    );
    for (const argv of [['check'], ['check', '--output', 'dist'], ['refresh']]) {
      await exits(0, site.run(...argv));
    }
    service.put(2, 'newer');
    expect(await exits(0, site.run('refresh'))).toBe('Updated about.html\n');
    expect(await site.read('about.html')).toBe('<!DOCTYPE html><p>about newer</p>');
    await rm(join(site.directory, 'dist/about.html'));
    expect(await exits(3, site.run('check'))).toContain('about.html is missing\n');
  });

  test('may remove a page, which the build says; once its snippet changes, only a build is right', async () => {
    const { site, service } = await siteWith(done(`rmSync('about', { recursive: true });`));
    expect(await site.builds()).toContain(
      '[WARN] [astro-snippets] late removed about/index.html after snippets were inlined.',
    );
    for (const argv of [['check'], ['check', '--output', 'dist'], ['refresh']]) {
      await exits(0, site.run(...argv));
    }
    service.put(2, 'newer');
    expect(await exits(3, site.run('refresh'))).toContain(
      'about/index.html is removed in each build after snippets are inlined (by late), so where its content is now is not known\n',
    );
  });

  test('may compress pages and remove them: the build says so, and later changes need a build', async () => {
    const { site, service } = await siteWith(done('compress();'));
    expect(await site.builds()).toMatch(
      /\[WARN\] \[astro-snippets\] late removed (about\/)?index.html, (about\/)?index.html after/,
    );
    expect(gunzipSync(await readFile(join(site.directory, 'dist/about/index.html.gz'))).toString()).toContain(
      'about two',
    );
    service.put(2, 'newer');
    expect(await exits(3, site.run('refresh'))).toContain('about/index.html is removed in each build');
  });

  test.for([
    [
      'compress a page with its embed and remove it',
      `late('astro:build:generated', compress)`,
      'about/index.html.gz, index.html.gz hold an embed, and the file that was compressed is gone.',
    ],
    [
      'compress something else as a page that it removes',
      done(`compress(); writeFileSync('index.html.gz', gzipSync('old'));`),
      'index.html.gz does not decompress to the file beside it.',
    ],
  ] as const)('may not %s', async ([, code, says]) => {
    const { site } = await siteWith(code);
    expect(await exits(1, site.build())).toContain(`[astro-snippets/stale-compressed-file] ${says}`);
  });
});

test('a page that a minifier has changed is a warning, until it has to be updated', async () => {
  const site = await copyOfEverything();
  const page = (await readFile(at(site, 'about.html'), 'utf8'))
    .replaceAll(/\s+/g, ' ')
    .replace('<p>', '<p  >');
  await writeFile(at(site, 'about.html'), page);
  const { exitCode, stderr } = await site.run('refresh');
  expect(exitCode).toBe(0);
  expect(stderr).toContain('Changed after the build, and still with the contents on record: about.html.');
  site.service.put(2, 'newer text about us');
  expect(await exits(3, site.run('refresh'))).toContain('about.html was changed after the build\n');
});

test('a page changed by an integration after inlining is left to a build, and the log names both', async () => {
  const service = await temporaryService({ 1: 'one', 2: 'two' });
  const minify = `{ name: 'minify', hooks: { 'astro:build:done': ({ dir }) => {
    const page = new URL('index.html', dir);
    writeFileSync(page, readFileSync(page, 'utf8').replace('<!-- -->', ''));
  } } }`;
  const site = await temporarySite({
    'astro.config.mjs': configWith('', {
      imports: `import { readFileSync, writeFileSync } from 'node:fs';`,
      integrations: `${minify}, `,
    }),
    'src/pages/index.html': '<!-- --><p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/about.html': '<!-- --><p><snippet-embed id="2"></snippet-embed></p>',
  });
  expect(await site.builds(service.environment)).toContain(
    '[WARN] [astro-snippets] minify changed index.html after snippets were inlined. Only a build can update it',
  );
  const refresh = () => cli(site.directory, ['refresh'], service.environment);
  expect(await exits(0, refresh())).toBe('Nothing has changed.\n');
  service.put(2, 'newer');
  expect(await exits(0, refresh())).toBe('Updated about/index.html\n');
  service.put(1, 'newer');
  expect(await exits(3, refresh())).toContain(
    'index.html is changed in each build after snippets are inlined (by minify)\n',
  );
  expect(await site.read('index.html')).toBe('<!DOCTYPE html><p>one</p>');
});

test('a page that another program changes just after a refresh has written it is not taken for the written one', async () => {
  const site = await copyOfEverything();
  const { commit } = StagedFiles.prototype;
  vi.spyOn(StagedFiles.prototype, 'commit').mockImplementation(async function (this: StagedFiles, targets) {
    await commit.call(this, targets);
    const page = await readFile(at(site, 'about.html'), 'utf8');
    await writeFile(at(site, 'about.html'), page.replaceAll('about them', 'about that'));
  });
  onTestFinished(() => void vi.restoreAllMocks());
  site.service.put(2, 'about them');
  await exits(0, site.run('refresh'));
  expect(await exits(3, site.run('refresh'))).toContain(
    'about.html was changed after the build, and does not show',
  );
});

test('files with other times and the same bytes count as unchanged', async () => {
  const site = await copyOfEverything();
  for (const name of ['index.html', 'about.html']) await utimes(at(site, name), new Date(0), new Date(0));
  expect(await exits(0, site.run('refresh'))).toBe('Nothing has changed.\n');
});

describe('without the generated pages, a refresh that has something to write exits with 3', () => {
  const folder = (site: Everything) => join(site.directory, 'node_modules/.astro/astro-snippets');
  const packOf = async (site: Everything) => {
    const [pack, ...more] = (await readdir(folder(site))).filter((name) => name.endsWith('.pack'));
    expect(more).toEqual([]);
    return join(folder(site), pack ?? '');
  };

  test.for([
    ['they are gone', async (site: Everything) => rm(await packOf(site)), 'are not beside'],
    ['they were cut off', async (site: Everything) => truncate(await packOf(site), 1_000), 'were cut off'],
    [
      'another version has read them',
      async (site: Everything) => {
        await changeRecord(site.record, (record) => {
          return { ...record, pack: { ...record.pack, version: '0.0.1' } };
        });
      },
      'were read by version 0.0.1 of astro-snippets',
    ],
  ] as const)('%s', async ([, change, says]) => {
    const site = await copyOfEverything();
    await change(site);
    expect(await site.run('refresh')).toMatchObject({ exitCode: 0, stdout: 'Nothing has changed.\n' });
    site.service.put(2, 'newer text about us');
    const before = await site.contents('dist');
    for (const command of [['refresh'], ['refresh', '--skip-modified'], ['refresh', '--dry-run']]) {
      const { exitCode, stderr } = await site.run(...command);
      expect(stderr).toContain(`The pages as they were generated ${says}`);
      expect(stderr).toContain('Build the site once.');
      expect(exitCode).toBe(3);
    }
    expect(await site.contents('dist')).toEqual(before);
    for (const command of ['list', 'report']) expect((await site.run(command)).exitCode, command).toBe(0);
    expect(await site.run('check')).toMatchObject({ exitCode: 10 });
  });
});
