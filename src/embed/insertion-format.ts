import type { EmbedAs } from './element.ts';
import type { Layer } from './layers.ts';

/** How content is written in one place of a file. */
export interface InsertionFormat {
  as: EmbedAs;
  /** The encodings around the content, outermost first. */
  layers: readonly Layer[];
  /** What comments around the content say. */
  mark?: string | undefined;
}

export const formatKey = ({ as, layers, mark }: InsertionFormat) => `${as} ${layers.join()} ${mark}`;
