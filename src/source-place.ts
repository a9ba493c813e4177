import type { SourceMap } from 'node:module';
import { relative, sep } from 'node:path';

/** A place in a file, counted from 1. */
export interface Place {
  line: number;
  column: number;
}

export function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** Where compiled code comes from. `undefined` if the source map does not say. */
export function originalPlace(map: SourceMap, code: string, offset: number): Place | undefined {
  const { line, column } = placeAt(code, offset);
  const entry = map.findEntry(line - 1, column - 1);
  if (!('originalLine' in entry) || entry.originalLine === undefined) return undefined;
  return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

/** How people know a source: by its path in the project, with slashes. */
export function shownSource(file: string, root: string): string {
  return relative(root, file).split(sep).join('/');
}
