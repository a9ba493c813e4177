import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEnvironment } from '../../src/settings/environment.ts';
import { readKeyFile } from '../../src/settings/key-file.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { temporarySite } from '../support/site/site.ts';

const mark = '\ufeff';
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** Folders whose `.env` files are read by the project's Vite, or by Node where there is no Astro. */
const places: [by: string, place: (files: Record<string, string | Buffer>) => Promise<string>][] = [
  [
    'Vite',
    async (files) => {
      const { directory } = await temporarySite({});
      for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
      return directory;
    },
  ],
  ['Node', async (files) => ((await folderWith(files)) satisfies Folder).directory],
];

const read = (directory: string, mode = 'production', env = {}) =>
  readEnvironment({ mode, directory }, { env, cwd: directory });

describe.for(places)('.env files that %s reads', ([, place]) => {
  test.for<[what: string, files: Record<string, string>, url: string]>([
    [
      'before the first variable',
      { '.env': `${mark}SNIPPETS_RENDER_BASE_URL=https://a.test\nX=1` },
      'https://a.test',
    ],
    [
      'before export',
      { '.env': `${mark}export SNIPPETS_RENDER_BASE_URL="https://a.test"` },
      'https://a.test',
    ],
    [
      'before a comment',
      { '.env': `${mark}# url\r\nSNIPPETS_RENDER_BASE_URL=https://a.test` },
      'https://a.test',
    ],
    [
      'in a file that wins over another',
      {
        '.env': 'SNIPPETS_RENDER_BASE_URL=https://a.test',
        '.env.local': `${mark}SNIPPETS_RENDER_BASE_URL=https://b.test`,
      },
      'https://b.test',
    ],
    [
      'in a file that another wins over',
      {
        '.env': `${mark}SNIPPETS_RENDER_BASE_URL=https://a.test`,
        '.env.production': 'SNIPPETS_RENDER_BASE_URL=https://b.test',
      },
      'https://b.test',
    ],
    [
      'in two files',
      {
        '.env': `${mark}SNIPPETS_RENDER_BASE_URL=https://a.test`,
        '.env.local': `${mark}SNIPPETS_RENDER_BASE_URL=https://b.test`,
      },
      'https://b.test',
    ],
    [
      'in a file that names the variable again',
      { '.env': `${mark}SNIPPETS_RENDER_BASE_URL=https://a.test\nSNIPPETS_RENDER_BASE_URL=https://b.test` },
      'https://b.test',
    ],
  ])('a byte order mark %s is ignored', async ([, files, url]) => {
    const environment = await read(await place(files));
    expect(environment).toEqual({ SNIPPETS_RENDER_BASE_URL: url });
  });

  test('the environment wins over a variable behind a byte order mark', async () => {
    const directory = await place({ '.env': `${mark}SNIPPETS_RENDER_BASE_URL=https://a.test` });
    const env = { SNIPPETS_RENDER_BASE_URL: 'https://c.test' };
    expect(await read(directory, 'production', env)).toEqual(env);
  });

  test.for<[name: string, content: Buffer]>([
    ['.env', utf16(`${mark}SNIPPETS_API_KEY=sk_of_powershell\r\n`)],
    ['.env.local', utf16(`${mark}SNIPPETS_API_KEY=sk_of_powershell\r\n`).swap16()],
    ['.env.production', utf16('SNIPPETS_API_KEY=sk_of_powershell\r\n')],
  ])('%s in UTF-16 is an error that names it', async ([name, content]) => {
    const directory = await place({ [name]: content });
    const error = await read(directory).catch(
      (thrown: unknown) => thrown as { message: string; hint: string },
    );
    expect(error).toMatchObject({
      code: 'invalid-options',
      message: `The file ${name} is in UTF-16, not in UTF-8.`,
      hint: 'Save it as UTF-8. In PowerShell, add `-Encoding utf8` to the command that writes it.',
    });
    expect(JSON.stringify(error)).not.toContain('sk_of');
  });

  test('a folder of that name is no file, and an empty file has no variables', async () => {
    const directory = await place({ '.env.local': '' });
    mkdirSync(join(directory, '.env'));
    expect(await read(directory)).toEqual({});
  });
});

test('a relative SNIPPETS_CA_FILE begins at the folder of the .env files, else at the project', async () => {
  const { directory } = await folderWith({ '.env': 'SNIPPETS_CA_FILE=certs/ca.pem' });
  const file = join(directory, 'certs', 'ca.pem');
  const read = (folder: string | false, env = {}) =>
    readEnvironment({ mode: 'production', directory: folder }, { env, cwd: directory });
  expect(await read(directory)).toEqual({ SNIPPETS_CA_FILE: file });
  expect(await read(false, { SNIPPETS_CA_FILE: './certs/ca.pem' })).toEqual({ SNIPPETS_CA_FILE: file });
  expect(await read(false, { SNIPPETS_CA_FILE: file })).toEqual({ SNIPPETS_CA_FILE: file });
  expect(await read(false, { SNIPPETS_CA_FILE: '' })).toEqual({ SNIPPETS_CA_FILE: '' });
});

const variable = 'SNIPPETS_API_KEY_FILE';

test.for([
  ['a byte order mark', Buffer.from(`${mark}sk_of_notepad\r\n`)],
  ['no byte order mark', Buffer.from('sk_of_notepad')],
] as const)('a key file with %s has the key alone', async ([, content]) => {
  const { directory } = await folderWith({ key: content });
  expect(await readKeyFile(join(directory, 'key'), variable)).toBe('sk_of_notepad');
});

test.for([
  ['little endian', utf16(`${mark}sk_of_powershell\r\n`)],
  ['big endian', utf16(`${mark}sk_of_powershell\r\n`).swap16()],
  ['without a mark', utf16('sk_of_powershell')],
] as const)('a key file in UTF-16 (%s) is an error', async ([, content]) => {
  const { directory } = await folderWith({ key: content });
  await expect(readKeyFile(join(directory, 'key'), variable)).rejects.toMatchObject({
    code: 'unreadable-key-file',
    message: `The file named by ${variable} could not be read: it is in UTF-16, not in UTF-8.`,
  });
});
