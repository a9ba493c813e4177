import type { EmbedAs } from './element.ts';
import type { Layer } from './layers.ts';

/** How content is written in one place of a file. */
export interface InsertionFormat {
  as: EmbedAs;
  /** The encodings around the content, outermost first. */
  layers: readonly Layer[];
  /** The text of the comments around the content, by which edit links find it. Without it, there are no comments. */
  mark?: string | undefined;
}

/** Returns a key that formats share if content is written alike in them. */
export function formatKey({ as, layers, mark }: InsertionFormat): string {
  return `${as} ${layers.join()} ${mark}`;
}
