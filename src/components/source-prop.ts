/** The prop that says where a `<Snippet>` is written: `src/pages/index.astro:12:5`, or the file alone. */
export const sourceProp = 'astro-snippets:source';

/** Where a `<Snippet>` is written. Lines and columns begin at 1. */
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
