import { entryName } from '../../failures/places.ts';
import { cleanText } from '../../text/clean-text.ts';
import type { NotWritten, PlacedSnippet, Request as RequestFacts } from '../json-output.ts';

/** The texts that {@link snippetLines} puts directly after the name of a snippet. */
interface SnippetLineEndings {
  /** About a snippet that does not exist. */
  missing: string;
  /** About any other snippet. @default nothing */
  existing?: string;
}

/** A line for each snippet with what is said about it, and a line below for each of its places. */
export function snippetLines(
  snippets: readonly PlacedSnippet[],
  { missing, existing = '' }: SnippetLineEndings,
): string[] {
  return snippets.map((snippet) => {
    const { pages, collections } = snippet;
    const places = [...pages.map(({ file }) => file), ...collections.map(entryName)];
    const heading = `${describeSnippet(snippet)}${snippet.missing ? missing : existing}`;
    return `${heading}\n    ${places.join('\n    ')}`;
  });
}

export function describeSnippet({ id, params }: RequestFacts): string {
  return params ? `Snippet ${id} ${cleanText(params)}` : `Snippet ${id}`;
}

/** A sentence for each, without a period. */
export function notWrittenLines(notWritten: readonly NotWritten[]): string[] {
  return notWritten.map(({ name, reason }) => `${name} ${reason}`);
}
