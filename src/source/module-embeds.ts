import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileOf, originalPlace, placeAt, shownSource } from './source-files.ts';
import { findWritten, type SyntaxNode } from './written-embeds.ts';

/** What a module of the site does with embeds. The lists are lines of its source, in their order. */
export interface ModuleEmbeds {
  id: string;
  written: number[];
  passedToIsland: number[];
  imports: number[];
  isMentioned: boolean;
}

interface TransformedModule {
  id: string;
  code: string;
  program: SyntaxNode;
  /** The source map from the code to the source. */
  map: () => SourceMapPayload | undefined;
}

/** How people know a module. */
export function nameOfModule(id: string, root: string): string {
  const name = shownSource(fileOf(id), root);
  return name.startsWith('..') ? fileOf(id) : name;
}

export function readModule({ id, code, program, map }: TransformedModule): ModuleEmbeds {
  const { isMentioned, ...offsets } = findWritten(program);
  let source: string[] = [];
  try {
    source = readFileSync(fileOf(id), 'utf8').split('\n');
  } catch {
    // A virtual module has no file, so the lines are those of its code.
  }
  const payload = Object.values(offsets).some((list) => list.length > 0) ? map() : undefined;
  const sourceMap = payload?.mappings ? new SourceMap(payload) : undefined;
  const lines = (list: readonly number[], pattern: RegExp) =>
    [...new Set(list.map((offset) => lineOf(code, offset, { source, sourceMap, pattern })))].sort(
      (a, b) => a - b,
    );
  return {
    id,
    isMentioned,
    written: lines(offsets.written, /snippet-embed/i),
    passedToIsland: lines(offsets.passedToIsland, /snippet-embed|<Snippet\b/i),
    imports: lines(offsets.imports, /astro-snippets\/components/),
  };
}

/**
 * The line of the source, counted from 1. Source maps of compiled components are coarse, so the text of the line decides.
 */
function lineOf(
  code: string,
  offset: number,
  {
    source,
    sourceMap,
    pattern,
  }: { source: readonly string[]; sourceMap: SourceMap | undefined; pattern: RegExp },
): number {
  const candidates = source.flatMap((line, index) => (pattern.test(line) ? [index + 1] : []));
  const line = sourceMap && originalPlace(sourceMap, code, offset)?.line;
  if (line === undefined) return candidates[0] ?? placeAt(code, offset).line;
  return candidates.find((candidate) => candidate >= line) ?? candidates[0] ?? line;
}
