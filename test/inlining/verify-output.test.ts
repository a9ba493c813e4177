import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OutputVerifier, withEmbeddingFile } from '../../src/inlining/verify-output.ts';
import { folderWith } from '../support/site/folder.ts';

describe('a calendar that breaks the line in the name of an embed may hold an embed', () => {
  const calendar = 'DESCRIPTION:Open <snippet-emb\r\n ed id="1"></snippet-emb\r\n ed>';
  const fileWith = async (content: string) => {
    const name = 'dates.ics';
    const { directory } = await folderWith({ [name]: content });
    return { file: join(directory, name), name, kind: 'other' } as const;
  };

  test('also as the only file of a site, and if another integration wrote the file', async () => {
    const verifier = new OutputVerifier();
    expect(verifier.checkAndFindEmbed(await fileWith(calendar))).toBe(true);
    expect(verifier.checkAndFindEmbed(await fileWith('DESCRIPTION:Open'))).toBe(false);
  });

  test('also if the calendar is so large that it is read in pieces', async () => {
    const size = 9 * 1024 * 1024;
    const read = withEmbeddingFile(await fileWith(calendar.padEnd(size)), (bytes) => bytes?.length);
    expect(read).toBe(size);
    expect(withEmbeddingFile(await fileWith(' '.repeat(size)), (bytes) => bytes)).toBeUndefined();
  });
});
