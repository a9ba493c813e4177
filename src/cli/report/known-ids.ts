import { readFile } from 'node:fs/promises';
import { cleanText } from '../../client/clean-text.ts';
import { parseSnippetId } from '../../client/snippet-request.ts';

/**
 * Reads the ids that `--ids` passes: a list, or the name of a file that contains one. In either, ids are separated by
 * commas or white space.
 *
 * @param refuse called with what is wrong, as a sentence. Of a file it names the line and never quotes it: the file may
 * be another one than was meant, such as one with the API key.
 * @returns each id once, ascending.
 */
export async function readIds(listOrFile: string, refuse: (message: string) => never): Promise<number[]> {
  if (/^[\d,\s]*$/.test(listOrFile)) {
    const ids = idsIn(listOrFile, (word) => refuse(`--ids: ${word} is not a snippet id.`));
    return ids.length > 0 ? ids : refuse('--ids: expected ids, such as 42,43, or the name of a file.');
  }
  const name = cleanText(listOrFile);
  const text = await readFile(listOrFile, 'utf8').catch(({ code }: NodeJS.ErrnoException) =>
    refuse(`--ids: ${name} is not a list of ids, and as a file it could not be read: ${code}.`),
  );
  const ids = text
    .split('\n')
    .flatMap((line, index) =>
      idsIn(line, () =>
        refuse(`--ids: line ${index + 1} of ${name} contains something else than snippet ids.`),
      ),
    );
  return ids.length > 0 ? sorted(ids) : refuse(`--ids: ${name} contains no ids.`);
}

function idsIn(text: string, refuse: (word: string) => never): number[] {
  const words = text.split(/[,\s]+/).filter((word) => word !== '');
  const ids = words.map((word) => {
    try {
      return parseSnippetId(word);
    } catch {
      return refuse(cleanText(word));
    }
  });
  return sorted(ids);
}

function sorted(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}
