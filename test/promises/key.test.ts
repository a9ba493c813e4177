import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { httpServer, rawServer } from '../support/http/tls-server.ts';
import { clientOf, serve } from '../support/http/wire.ts';
import { sharedService } from '../support/site/built-site.ts';
import { astroCommand } from '../support/site/installation.ts';
import { collectionOf, configWith, pageWith, temporarySite } from '../support/site/site.ts';
import { startProcess } from '../support/tools/command.ts';
import { cleanEnvironment } from '../support/tools/environment.ts';
import { exits } from '../support/tools/exits.ts';
import { failureOf } from '../support/tools/failure.ts';
import { expectKeyNowhere } from '../support/tools/key-search.ts';

const service = await sharedService({ 1: '<b>one</b>', 2: 'no key here' });
const { SNIPPETS_API_KEY: key, ...withoutKey } = service.environment;

const files = {
  'src/pages/index.astro': pageWith(
    '<p><Snippet id={1} /></p><script>console.log(import.meta.env.MODE);</script>',
  ),
};

test('the API key is not in the output, the caches or the log of a build, whether it comes from a .env file or overrides it', async () => {
  const site = await temporarySite({ ...files, '.env': `SNIPPETS_API_KEY=${key}\n` });
  await expectKeyNowhere(site, await site.builds(withoutKey), key);
  await site.write({ '.env': 'SNIPPETS_API_KEY=sk_from_file_0123456789\n' });
  await expectKeyNowhere(site, await site.builds(service.environment), key);
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
});

test('an unknown API key that fails a build is not in its files or its log', async () => {
  const site = await temporarySite(files);
  const SNIPPETS_API_KEY = 'sk_unknown+/=%_0123456789';
  const output = await exits(1, site.build({ ...service.environment, SNIPPETS_API_KEY }));
  await expectKeyNowhere(site, output, SNIPPETS_API_KEY);
});

describe('a key file that', () => {
  const withFile = (file: string) => ({ ...withoutKey, SNIPPETS_API_KEY_FILE: file });

  test('does not exist fails a build that needs the key, and names the variable', async () => {
    const site = await temporarySite(files);
    const output = await exits(1, site.build(withFile('nowhere')));
    expect(output).toContain(
      '[astro-snippets/unreadable-key-file] The file named by SNIPPETS_API_KEY_FILE does not exist. Needed for index.html.',
    );
    expect(output).toContain('Write the API key to that file, or set SNIPPETS_API_KEY instead.');
  });

  test('does not exist is no error for a build that shows children', async () => {
    const site = await temporarySite({
      'astro.config.mjs': configWith("{ missingKey: 'children' }"),
      'src/pages/index.html': '<p><snippet-embed id="1">children</snippet-embed></p>',
    });
    const output = await site.builds(withFile('nowhere'));
    expect(await site.read('index.html')).toContain('<p>children</p>');
    expect(output).toContain(
      'The file named by SNIPPETS_API_KEY_FILE does not exist, so embeds show their children',
    );
  });

  test('cannot be read fails any build, and names the variable', async () => {
    const plain = await temporarySite({ 'src/pages/index.html': '<p>nothing</p>' });
    expect(await exits(1, plain.build(withFile('src')))).toContain(
      '[astro-snippets/unreadable-key-file] The file named by SNIPPETS_API_KEY_FILE could not be read: EISDIR.',
    );
  });
});

test.skipIf(process.platform === 'win32')('a build takes the API key from a pipe of the shell', async () => {
  const site = await temporarySite(files);
  const command = 'exec env SNIPPETS_API_KEY_FILE=<(printf "%s\\n" "$KEY_OF_TEST") "$0" "$1" build';
  const environment = { ...cleanEnvironment(), ...withoutKey, ASTRO_TELEMETRY_DISABLED: '1' };
  const build = startProcess('bash', ['-c', command, process.execPath, astroCommand], site.directory, {
    ...environment,
    KEY_OF_TEST: key,
  });
  const output = await exits(0, build.ended);
  expect(await site.read('index.html')).toContain('<p><b>one</b></p>');
  await expectKeyNowhere(site, output, key);
});

test('an API key in a public variable fails the build at the start, in any encoding', async () => {
  const site = await temporarySite(files);
  const PUBLIC_KEY = `x${Buffer.from(`Bearer ${key}`).toString('base64')}`;
  const output = await exits(1, site.build({ ...service.environment, PUBLIC_KEY }));
  expect(output).toContain(
    '[astro-snippets/exposed-key] PUBLIC_KEY contains the API key, and every visitor could read it.',
  );
  await expectKeyNowhere(site, output, key);
});

test('a build whose output contains the API key fails, names the files and removes them', async () => {
  service.put(2, `leak: ${key}`);
  const site = await temporarySite({
    ...files,
    'src/pages/leak.astro': '<p>{process.env.SNIPPETS_API_KEY}</p>',
    'src/pages/data.json.ts':
      "export const GET = () => Response.json({ auth: btoa('Bearer ' + process.env.SNIPPETS_API_KEY) });",
    'src/pages/snippet.astro': '<p><snippet-embed id="2"></snippet-embed></p>',
  });
  const output = await exits(1, site.build(service.environment));
  expect(output).toContain(
    '[astro-snippets/published-key] The API key was found in data.json, leak/index.html, snippet/index.html. These files were removed.',
  );
  await expectKeyNowhere(site, output, key);
});

describe('the API key fails a build in', () => {
  const dotEnv = `SNIPPETS_API_KEY=${key}\n`;
  const tar = Buffer.concat([Buffer.from('.env'), Buffer.alloc(508), Buffer.from(dotEnv)]);
  const long = Buffer.concat([Buffer.alloc(1024 * 1024 - 5, 7), Buffer.from(key), randomBytes(2 ** 20)]);
  test.each<[place: string, name: string, bytes: Buffer]>([
    ['an archive', 'backup.tar', tar],
    ['a compressed archive', 'backup.tar.gz', gzipSync(tar)],
    ['a compressed archive of any name', 'backup.dat', gzipSync(tar)],
    ['a ZIP archive', 'backup.zip', zipOf({ 'readme.txt': 'nothing', '.env': dotEnv })],
    ['a compressed file beside no page', 'notes.txt.br', brotliCompressSync(dotEnv)],
    [
      'a compressed file that is cut off',
      'notes.txt.gz',
      gzipSync(`${dotEnv}${'x'.repeat(99)}`).subarray(0, -9),
    ],
    ['a large compressed file', 'large.gz', gzipSync(long)],
    ['an image', 'photo.jpg', Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.from(`Exif ${key}`)])],
    ['an image, in base64', 'map.png', Buffer.from(`\0${Buffer.from(`a ${key}`).toString('base64')}`)],
    ['a font with half of the key at the end of a piece', 'a.woff2', long],
    ['a file name', `${key}.txt`, Buffer.from('nothing')],
    ['the name of a folder', `${key}/photo.png`, Buffer.alloc(3)],
  ])('%s', async (_place, name, bytes) => {
    const site = await temporarySite({ 'src/pages/index.html': '<p>nothing</p>' });
    await mkdir(dirname(join(site.directory, 'public', name)), { recursive: true });
    await writeFile(join(site.directory, 'public', name), bytes);
    const output = await exits(1, site.build(service.environment));
    const shownName = name.replace(key, '[API key]');
    expect(output).toContain(`The API key was found in ${shownName}. These files were removed.`);
    await rm(join(site.directory, 'public'), { recursive: true });
    await expectKeyNowhere(site, output, key);
    // No empty folder with the key in its name is left, either.
    expect(await readdir(join(site.directory, 'dist'))).not.toContain(name.split('/')[0]);
  });
});

test.each([
  ['import.meta.env', 'const key = import.meta.env.SNIPPETS_API_KEY;', 'index'],
  ['a constant of a module in hexadecimal', `const key = '${Buffer.from(key).toString('hex')}';`, 'index'],
  ["the content of a collection's entry", 'const key = await getEntry("notes", "one");', 'data-layer'],
])(
  'an API key that %s puts into the code of an on-demand page fails the build',
  async (_how, code, chunk) => {
    const site = await temporarySite({
      '.env': `SNIPPETS_API_KEY=${key}\n`,
      'astro.config.mjs': configWith('', {
        imports: "import node from '@astrojs/node';",
        settings: "adapter: node({ mode: 'standalone' }),",
      }),
      'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { z } from 'astro/zod';
      const loader = () => [{ id: 'one', text: ${JSON.stringify(chunk === 'data-layer' ? key : '')} }];
      export const collections = { notes: defineCollection({ loader, schema: z.object({ text: z.string() }) }) };`,
      'src/pages/index.astro': `---\nexport const prerender = false;\nimport { getEntry } from 'astro:content';\n${code}\n---\n<p>{JSON.stringify(key).length}</p>`,
      'src/pages/static.astro': '---\nconst key = process.env.SNIPPETS_API_KEY;\n---\n<p>{key?.length}</p>',
    });
    const output = await exits(1, site.build(withoutKey));
    expect(output).toMatch(
      /\[astro-snippets\/published-key\] The API key was found in dist\/server\/\S+mjs, which renders/,
    );
    expect(output).toContain(chunk);
    expect(output).toContain('use process.env.SNIPPETS_API_KEY or getSecret');
  },
);

const notes = `
  import { defineCollection } from 'astro:content';
  import { z } from 'astro/zod';
  const loader = () => [{ id: 'good', text: 'x' }, { id: 'bad', text: process.env.SNIPPETS_API_KEY }];
  export const collections = { notes: defineCollection({ loader, schema: z.object({ text: z.string() }) }) };`;

test.each([
  ['the data store', ''],
  ['the data store in parts', "experimental: { collectionStorage: 'chunked' },"],
  ['the cache of an incremental build', 'experimental: { incrementalBuild: true },'],
])(
  'an API key that fails a build stays in no cache (%s), and its entry is named',
  async (_where, settings) => {
    const site = await temporarySite({
      'astro.config.mjs': configWith('', { settings }),
      'src/content.config.ts': notes,
      'src/pages/[id].astro': `---
import { getCollection } from 'astro:content';
export async function getStaticPaths() {
  return (await getCollection('notes')).map((entry) => ({ params: { id: entry.id }, props: { entry }, cacheKey: entry.id }));
}
---
<p>{Astro.props.entry.data.text}</p>`,
    });
    const output = await exits(1, site.build(service.environment));
    expect(output).toContain('The API key was found in');
    expect(output).toContain('bad/index.html');
    expect(output).toContain('The key is in notes (collection), entry "bad".');
    await expectKeyNowhere(site, output, key);
  },
);

test('a snippet with the API key is in no data store, and its entry is named', async () => {
  service.put(2, `leak: ${key}`);
  const site = await temporarySite({
    'src/content.config.ts': collectionOf('texts', '{ good: { id: 1 }, bad: { id: 2 } }'),
    'src/pages/index.html': '<p>nothing</p>',
  });
  const output = await exits(1, site.build(service.environment));
  expect(output).toContain('The API key was found in texts (collection), entry "bad" (snippet 2).');
  await expectKeyNowhere(site, output, key);
});

/** A ZIP archive of deflated files, without the directory at its end. */
function zipOf(files: Record<string, string>): Buffer {
  const entries = Object.entries(files).map(([name, text]) => {
    const header = Buffer.alloc(30);
    header.write('PK\x03\x04');
    header.writeUInt16LE(8, 8);
    header.writeUInt16LE(name.length, 26);
    return Buffer.concat([header, Buffer.from(name), deflateRawSync(text)]);
  });
  return Buffer.concat(entries);
}

test.each([300, 301, 302, 303, 304, 305, 307, 308])('a redirect with %i is not followed', async (status) => {
  let reached = 0;
  const other = await serve(
    rawServer((socket) => {
      reached += 1;
      socket.end();
    }),
  );
  const path = `localhost:${other.port}/base/snippets/42/render`;
  // Another host, another port, another scheme, and no scheme.
  for (const location of [
    `https://127.0.0.1:${other.port}/base/snippets/42/render`,
    `https://${path}`,
    `http://${path}`,
    `//${path}`,
  ]) {
    const server = await serve(
      httpServer((_request, response) => void response.writeHead(status, { location }).end()),
    );
    const error = await failureOf(clientOf(server).get(42));
    expect(error, location).toMatchObject({ attempts: 1, status });
    expect(['redirect', 'unexpected-status']).toContain(error.code);
  }
  expect([reached, other.connections()]).toEqual([0, 0]);
});
