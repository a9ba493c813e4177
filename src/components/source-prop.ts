/** The prop with the place of a `<Snippet>` in the source: `src/pages/index.astro:12:5`, or only the file. */
export const sourceProp = 'astro-snippets:source';

/** The place of a `<Snippet>` in the source. Lines and columns begin at 1. */
export interface Source {
  /** The path in the project. */
  file: string;
  line?: number | undefined;
  column?: number | undefined;
}

export function writeSource({ file, line, column }: Source): string {
  return [file, line, column].filter((part) => part !== undefined).join(':');
}

export function readSource(prop: unknown): Source | undefined {
  if (typeof prop !== 'string') return undefined;
  const [, file = prop, line, column] = /^(.+?)(?::(\d+)(?::(\d+))?)?$/.exec(prop) ?? [];
  return { file, ...(line && { line: Number(line) }), ...(column && { column: Number(column) }) };
}
