import type { Range } from '../markup/edits.ts';
import type { EmbedAttributes } from './element.ts';
import type { InsertionFormat } from './insertion-format.ts';

export type PlacedEmbed = Pick<FoundEmbed, 'start' | 'end' | 'children' | 'format' | 'paragraph'>;

export type FileKind = 'html' | 'xml' | 'json' | 'text';

/** An embed in a file. All places are byte offsets. */
export interface FoundEmbed extends Range {
  attributes: EmbedAttributes;
  /** An attribute with a misspelled name. */
  misspelled?: string | undefined;
  /** With their text where text is shown. */
  children: Range & { text?: string };
  format: InsertionFormat;
  /** The value of the nearest `lang`. */
  lang: string | undefined;
  /** Whether an island renders it again in the browser. */
  inIsland: boolean;
  /** In a heading with an id, as Markdown generates it. */
  inHeading: boolean;
  inParagraph: boolean;
  /** If it contains nothing else, as Markdown generates it. */
  paragraph?: Range | undefined;
}

export type Incomplete = 'unclosed' | 'unrendered' | 'nested';

export type Refusal = 'in-script' | 'in-style' | 'in-xml' | 'in-attribute';

/** What may be intended, or a file in which embeds may not work. */
export type ScanWarning = Incomplete | 'invalid-id' | 'in-id' | 'in-code' | 'in-xhtml' | 'utf-16';

export interface EmbedFault {
  start: number;
  flaw: Incomplete | Refusal;
  attribute?: string | undefined;
  /** Where the embed around it begins. */
  outer?: number | undefined;
}

export interface Scan {
  embeds: FoundEmbed[];
  faults: EmbedFault[];
  warnings: { start: number; flaw: ScanWarning }[];
}
