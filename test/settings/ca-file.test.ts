import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCaFile } from '../../src/settings/ca-file.ts';
import { certificate, makeCertificate } from '../support/http/tls-server.ts';
import { folderWith } from '../support/site/folder.ts';

const { ca, key } = certificate;
const other = (await makeCertificate()).ca;
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

async function fileWith(content: string | Buffer): Promise<string> {
  return join((await folderWith({ 'ca.pem': content })).directory, 'ca.pem');
}

function flawOf(file: string): { message: string; hint: string; code: string } {
  try {
    readCaFile(file);
  } catch (error) {
    return error as never;
  }
  throw new Error('The file was accepted.');
}

const cut = 'has a certificate that is malformed or cut off';
const labelled = (pem: string, label: string) => pem.replaceAll('CERTIFICATE', label);

test.for<[what: string, content: string | Buffer, certificates: string[]]>([
  ['one certificate', ca, [ca]],
  ['two certificates', `${ca}${other}`, [ca, other]],
  ['a comment before, between and after them', `# mine\n${ca}\nOther: =====\n${other}\nend`, [ca, other]],
  ['the line breaks of Windows', ca.replaceAll('\n', '\r\n'), [ca.replaceAll('\n', '\r\n')]],
  ['a byte order mark', `\ufeff${ca}`, [ca]],
  ['no line break at its end', ca.trimEnd(), [ca]],
  ['the old label X509', labelled(ca, 'X509 CERTIFICATE'), [labelled(ca, 'X509 CERTIFICATE')]],
])('a file with %s is read', async ([, content, certificates]) => {
  expect(readCaFile(await fileWith(content))).toEqual(certificates.map((one) => one.trim()));
});

test.for<[what: string, content: string | Buffer, flaw: string]>([
  ['nothing', '', 'is empty'],
  ['only white space', ' \r\n\n', 'is empty'],
  ['only a byte order mark', '\ufeff', 'is empty'],
  [
    'other text',
    'sk_live_51h8\n',
    'has no certificate (PEM: text that begins with -----BEGIN CERTIFICATE-----)',
  ],
  ['a page of a proxy', '<!doctype html><title>Sign in</title>', 'has no certificate (PEM'],
  ['a certificate that is cut off', ca.slice(0, 200), cut],
  ['a cut certificate before a whole one', `${ca.slice(0, 200)}\n${other}`, cut],
  ['a cut certificate behind a whole one', `${ca}${other.slice(0, 200)}`, cut],
  ['the end of a certificate behind a whole one', `${ca}${other.slice(100)}`, cut],
  ['the end of a certificate', ca.slice(100), cut],
  ['a changed certificate', ca.replace(/^(.+\n.{20})..../, '$1****'), cut],
  ['a private key', key, 'has a private key'],
  ['a private key and its certificate', `${ca}${key}`, 'has a private key'],
  ['an encrypted private key', labelled(ca, 'ENCRYPTED PRIVATE KEY'), 'has a private key'],
  ['a request for a certificate', labelled(ca, 'CERTIFICATE REQUEST'), 'has no certificate (PEM'],
  ['a certificate in UTF-16', utf16(ca), 'is in UTF-16, not in UTF-8'],
  ['a certificate in UTF-16 without a mark', Buffer.from(ca, 'utf16le'), 'is in UTF-16, not in UTF-8'],
  ['a certificate in UTF-16, big endian', utf16(ca).swap16(), 'is in UTF-16, not in UTF-8'],
  [
    'a certificate in DER',
    Buffer.from(ca.replace(/-----.*-----/g, ''), 'base64'),
    'has no certificate (PEM: text that begins',
  ],
])('a file with %s is an error', async ([, content, flaw]) => {
  const file = await fileWith(content);
  const { message, hint, code } = flawOf(file);
  expect(message).toContain(`SNIPPETS_CA_FILE names ${JSON.stringify(file)}, which ${flaw}`);
  expect(code).toBe('invalid-options');
  expect(hint).toMatch(/certificates? .*\.$/);
  // Of a private key, nothing may get into a log.
  for (const line of key.split('\n').filter((text) => text.length > 20 && !text.startsWith('-')))
    expect(message + hint).not.toContain(line);
});

test('a file that does not exist, and a folder, are errors', async () => {
  const { directory } = await folderWith({ 'readme.txt': '' });
  const missing = join(directory, 'missing.pem');
  expect(flawOf(missing).message).toBe(
    `SNIPPETS_CA_FILE names ${JSON.stringify(missing)}, which does not exist.`,
  );
  const folder = join(directory, 'certs');
  mkdirSync(folder);
  writeFileSync(join(folder, 'ca.pem'), ca);
  expect(flawOf(folder).message).toBe(`SNIPPETS_CA_FILE names ${JSON.stringify(folder)}, which is no file.`);
});

test.skipIf(process.platform === 'win32')('a device that never ends is an error', () => {
  expect(flawOf('/dev/zero').message).toBe('SNIPPETS_CA_FILE names "/dev/zero", which is no file.');
});

test('the text of a certificate or key instead of a path is an error that does not show it', () => {
  for (const text of [ca, key, `/project/${key}`]) {
    expect(flawOf(text).message).toBe(
      'SNIPPETS_CA_FILE has to be the path of a file, and is the text of a certificate or key.',
    );
  }
});
