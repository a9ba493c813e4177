import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readKeyFile } from '../../src/settings/key-file.ts';
import { folderWith } from '../support/site/folder.ts';

const variable = 'SNIPPETS_API_KEY_FILE';
const subject = `The file named by ${variable} could not be read`;

const keyFile = async (name = 'key') => join((await folderWith({ 'readme.txt': '' })).directory, name);

describe.skipIf(process.platform === 'win32')('a pipe with the API key', () => {
  const pipe = async () => {
    const file = await keyFile();
    execFileSync('mkfifo', [file]);
    return file;
  };

  test('is read once, however often and at the same time it is asked for', async () => {
    const file = await pipe();
    const reads = Promise.all([readKeyFile(file, variable), readKeyFile(file, variable)]);
    await writeFile(file, 'sk_from_a_pipe\n');
    expect(await reads).toEqual(['sk_from_a_pipe', 'sk_from_a_pipe']);
    expect(await readKeyFile(file, variable)).toBe('sk_from_a_pipe');
  });

  test('may be written in parts', async () => {
    const file = await pipe();
    const read = readKeyFile(file, variable);
    const writer = openSync(file, 'w');
    writeSync(writer, 'sk_from');
    await new Promise(setImmediate);
    writeSync(writer, '_a_pipe');
    closeSync(writer);
    expect(await read).toBe('sk_from_a_pipe');
  });

  test('is an error if nobody writes to it, and can be read later', async () => {
    const file = await pipe();
    await expect(readKeyFile(file, variable, 60)).rejects.toThrow(
      `${subject}: nothing was written to it within 60 milliseconds.`,
    );
    const read = readKeyFile(file, variable);
    await writeFile(file, 'sk_from_a_pipe');
    expect(await read).toBe('sk_from_a_pipe');
  });

  test('is an error if it does not end', async () => {
    const file = await pipe();
    const read = readKeyFile(file, variable, 60);
    const writer = openSync(file, 'w');
    onTestFinished(() => closeSync(writer));
    writeSync(writer, 'sk_from_a_pipe');
    await expect(read).rejects.toThrow(`${subject}: it did not end within 60 milliseconds.`);
  });

  test('is an error if it is a device that never ends', async () => {
    await expect(readKeyFile('/dev/zero', variable)).rejects.toThrow(`${subject}: it is longer than 64 KiB.`);
  });
});

test('a key file that is no pipe is read each time', async () => {
  const file = await keyFile();
  expect(await readKeyFile(file, variable)).toBeUndefined();
  writeFileSync(file, 'sk_first\r\n');
  expect(await readKeyFile(file, variable)).toBe('sk_first');
  writeFileSync(file, 'sk_second');
  expect(await readKeyFile(file, variable)).toBe('sk_second');
});

test.skipIf(process.platform === 'win32')('an empty device is like an empty key file', async () => {
  expect(await readKeyFile('/dev/null', variable)).toBe('');
});
