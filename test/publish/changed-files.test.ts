import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mergeChanges } from '../../src/cli/changed-files.ts';
import { startCommand } from '../support/command.ts';
import { codeBelow } from '../support/docs.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

const [purge = '', watchAndPurge = ''] = codeBelow('Purge a CDN by URL', 'sh', 'docs/publishing.md');
const [hook = ''] = codeBelow('Tell a build hook what has changed', 'sh', 'docs/publishing.md');
/** What the recipe runs, without what is run by npm. */
const commandOf = (recipe: string) =>
  (/--exec '([^']*)'/.exec(recipe)?.[1] ?? '').replace(/^npm run \w+ && /, '');

const pages = Array.from({ length: 65 }, (_, page) => `${page}/index.html`);
const urls = { site: 'https://example.com', base: '/', trailingSlash: 'ignore' };
const urlOf = (page: string) => `https://example.com/${page.replace('index.html', '')}`;
const all = pages.toSorted();

interface Call {
  path: string;
  body: string;
  authorization: string | undefined;
}
const calls: Call[] = [];
let status = 200;
const standIn = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => (body += text));
  request.on('end', () => {
    const { method, url = '', headers } = request;
    if (method === 'POST') calls.push({ path: url, body, authorization: headers.authorization });
    response.writeHead(status).end();
  });
});

let service: TestService;
let folder: Folder;
let record: string;
/** Where temporary files are, so that those that are left can be seen. */
let temporary: string;

beforeAll(async () => {
  service = await startTestService({ 1: 'first', 2: 'alone' });
  await new Promise<void>((resolve) => standIn.listen(0, '127.0.0.1', resolve));
});
beforeEach(async () => {
  service.put(1, 'first');
  service.put(2, 'alone');
  calls.length = 0;
  status = 200;
  temporary = await mkdtemp(join(tmpdir(), 'snippets-lists-'));
  folder = await createFolder({
    ...Object.fromEntries(
      pages.map((page) => [`dist/${page}`, '<p><snippet-embed id="1"></snippet-embed></p>']),
    ),
    'dist/alone.html': '<p><snippet-embed id="2"></snippet-embed></p>',
    'purge.sh': purge,
    // Shows what a command is told.
    'told.mjs': `import { appendFileSync, readFileSync } from 'node:fs';
const read = (name) => process.env[name] === undefined ? null : readFileSync(process.env[name], 'utf8').split('\\n').slice(0, -1);
appendFileSync('told', JSON.stringify({ files: read('ASTRO_SNIPPETS_CHANGED_FILES'), urls: read('ASTRO_SNIPPETS_CHANGED_URLS') }) + '\\n');
process.exit(Number(process.argv[2] ?? 0));`,
  });
  const inlined = await start('inline', 'dist').ended;
  expect(inlined.exitCode, inlined.output).toBe(0);
  record = join(folder.directory, '.cache/astro-snippets/manifest.json');
  await changeRecord({ urls });
  return async () => {
    // Node keeps its compiled code there, too.
    expect((await readdir(temporary)).filter((name) => name !== 'node-compile-cache')).toEqual([]);
    await rm(temporary, { recursive: true });
    await folder.remove();
  };
});
afterAll(async () => {
  await service.close();
  await new Promise((resolve) => standIn.close(resolve));
});

async function changeRecord(more: object) {
  await writeFile(record, JSON.stringify({ ...JSON.parse(await readFile(record, 'utf8')), ...more }));
}

function start(...arguments_: string[]) {
  const { port } = standIn.address() as AddressInfo;
  return startCommand(folder.directory, arguments_, {
    ...service.environment,
    PATH: process.env['PATH'] ?? '',
    TMPDIR: temporary,
    CLOUDFLARE_API: `http://127.0.0.1:${port}`,
    CLOUDFLARE_ZONE: 'zone',
    CLOUDFLARE_TOKEN: 'token',
    BUILD_HOOK: `http://127.0.0.1:${port}/hook`,
    // As in a command that runs another.
    ASTRO_SNIPPETS_CHANGED_URLS: '/no/such/list',
  });
}

const told = async () => {
  const text = await readFile(join(folder.directory, 'told'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line));
};
const tell = (exit = 0) => `node told.mjs ${exit}`;
const unknown = { files: null, urls: null };
const alone = { files: ['alone.html'], urls: ['https://example.com/alone'] };

describe('the command of check --exec is told', () => {
  test('the files that show a changed snippet, and their URLs', async () => {
    service.put(1, 'second');
    expect((await start('check', '--exec', tell()).ended).exitCode).toBe(0);
    expect(await told()).toEqual([{ files: all, urls: all.map(urlOf) }]);
  });

  test('root-relative URLs where the URL of the site is not known', async () => {
    await changeRecord({ urls: { ...urls, site: undefined, base: '/docs' } });
    service.put(2, 'other');
    await start('check', '--exec', tell()).ended;
    expect(await told()).toEqual([{ ...alone, urls: ['/docs/alone'] }]);
  });

  test('nothing without a usable record', async () => {
    await rm(record);
    await start('check', '--exec', tell()).ended;
    expect(await told()).toEqual([unknown]);
  });

  test('nothing where a snippet in a collection has changed', async () => {
    const { kinds } = JSON.parse(await readFile(record, 'utf8'));
    const [{ snippet, content }] = kinds;
    await changeRecord({ collections: [{ collection: 'legal', entry: 'imprint', snippet, content }] });
    service.put(1, 'second');
    service.put(2, 'other');
    await start('check', '--exec', tell()).ended;
    expect(await told()).toEqual([unknown]);
  });

  test('the same files again after it has failed, with those that have changed since', async () => {
    service.put(2, 'other');
    expect((await start('check', '--exec', tell(7)).ended).exitCode).toBe(7);
    service.put(2, 'alone');
    expect((await start('check', '--exec', tell(7)).ended).exitCode).toBe(7);
    service.put(1, 'second');
    expect((await start('check', '--exec', tell()).ended).exitCode).toBe(0);
    const [first, again, both] = (await told()) as { files: string[] }[];
    expect([first, again]).toEqual([alone, alone]);
    expect(both?.files.toSorted()).toEqual([...all, 'alone.html'].toSorted());
  });
});

describe('the command of refresh --after is told', () => {
  test('the files that were written', async () => {
    service.put(2, 'other');
    expect((await start('refresh', '--after', tell()).ended).exitCode).toBe(0);
    expect(await told()).toEqual([alone]);
  });

  test('nothing when it runs again because it has failed', async () => {
    service.put(2, 'other');
    expect((await start('refresh', '--after', tell(7)).ended).exitCode).toBe(1);
    expect((await start('refresh', '--after', tell()).ended).exitCode).toBe(0);
    expect(await told()).toEqual([alone, unknown]);
  });
});

describe('the command of watch --exec is told', () => {
  async function watchUntil(count: number, ...flags: string[]) {
    const watching = start('watch', '--every', '1s', ...flags);
    try {
      await expect.poll(async () => (await told()).length, { timeout: 240_000, interval: 200 }).toBe(count);
    } finally {
      watching.process.kill('SIGTERM');
      await watching.ended;
    }
  }

  test('the files that were written, also by a watch whose command has failed', async () => {
    service.put(2, 'other');
    await watchUntil(1, '--exec', tell(7));
    service.put(1, 'second');
    await watchUntil(2, '--exec', tell());
    const [first, both] = (await told()) as { files: string[] }[];
    expect(first).toEqual(alone);
    expect(both?.files.toSorted()).toEqual([...all, 'alone.html'].toSorted());
  });

  test('nothing after a build', async () => {
    await rm(record);
    const build = `"${process.execPath}" "${join(import.meta.dirname, '../../dist/cli/main.js')}" inline dist`;
    await watchUntil(1, '--build', build, '--exec', tell());
    expect(await told()).toEqual([unknown]);
  });
});

test('what is not known stays so when it is merged with files', () => {
  const [a, b] = ['a', 'b'].map((name) => ({ file: name, url: `/${name}` })) as [never, never];
  expect(mergeChanges([a], [a, b])).toEqual([a, b]);
  expect(mergeChanges([a], undefined)).toBeUndefined();
  expect(mergeChanges(undefined, [])).toBeUndefined();
});

// Word for word, in a real shell, which Windows does not have.
describe.skipIf(process.platform === 'win32')('the recipe for a purge by URL', () => {
  const exec = commandOf(watchAndPurge);

  test('purges the changed URLs, 30 with each call', async () => {
    service.put(1, 'second');
    expect(exec).toBe('sh purge.sh');
    const { exitCode, output } = await start('check', '--exec', exec).ended;
    expect(exitCode, output).toBe(0);
    const bodies = calls.map(({ body }) => JSON.parse(body).files as string[]);
    expect(bodies.map(({ length }) => length)).toEqual([30, 30, 5]);
    expect(bodies.flat()).toEqual(all.map(urlOf));
    expect(new Set(calls.map(({ path }) => path))).toEqual(new Set(['/zones/zone/purge_cache']));
    expect(new Set(calls.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer token']));
  });

  test('purges everything where it is not known what has changed', async () => {
    await rm(record);
    await start('check', '--exec', exec).ended;
    expect(calls.map(({ body }) => JSON.parse(body))).toEqual([{ purge_everything: true }]);
  });

  test('fails with the first call that fails, and purges the same URLs the next time', async () => {
    service.put(1, 'second');
    status = 500;
    expect((await start('check', '--exec', exec).ended).exitCode).toBe(1);
    expect(calls).toHaveLength(1);
    service.put(1, 'first');
    status = 200;
    calls.length = 0;
    expect((await start('check', '--exec', exec).ended).exitCode).toBe(0);
    expect(calls.flatMap(({ body }) => JSON.parse(body).files)).toEqual(all.map(urlOf));
  });
});

describe.skipIf(process.platform === 'win32')(
  'the recipe for a build hook that is told what has changed',
  () => {
    const exec = commandOf(hook);

    test('posts the changed URLs', async () => {
      service.put(2, 'other');
      const { exitCode, output } = await start('check', '--exec', exec).ended;
      expect(exitCode, output).toBe(0);
      expect(calls).toMatchObject([{ path: '/hook', body: 'https://example.com/alone\n' }]);
    });

    test('posts an empty body where they are not known', async () => {
      await rm(record);
      await start('check', '--exec', exec).ended;
      expect(calls).toMatchObject([{ path: '/hook', body: '' }]);
    });
  },
);
