import type { Range } from '../markup/edits.ts';
import type { EmbedAs, EmbedAttributes } from './element.ts';
import type { Layer } from './layers.ts';
import type { Nesting } from './nesting.ts';

/**
 * The syntax of a file, which decides how the scanner reads it. `text` is prose: what it holds is told from the text
 * itself, as XML, JSON, HTML or Markdown. `other` is a syntax that we cannot write, such as YAML.
 */
export type FileKind = 'html' | 'xml' | 'json' | 'text' | 'other';

/** What is shown in place of an embed: its HTML, its text, or its text as a URL. */
export type ShownAs = EmbedAs | 'url';

/** An embed that a scan has found. All places are byte offsets in the file. */
export interface FoundEmbed extends Range {
  attributes: EmbedAttributes;
  /** The name of an attribute that looks like a misspelling of an embed's own, such as `parms`. */
  misspelled?: string | undefined;
  /** The name of an attribute of an element in a page that is not the embed's own, and would be lost with it. */
  foreign?: string | undefined;
  children: Children;
  /** How content is written in place of the embed. */
  format: InsertionFormat;
  /** The language at the embed: the value of the nearest `lang`. */
  lang: string | undefined;
  /** Whether an island renders the embed again in the browser. */
  inIsland: boolean;
  /** Whether the embed is in a heading with an id, as Markdown generates it. */
  inHeading: boolean;
  /** The elements around the embed that some content does not fit into. Embeds share these lists. */
  around: readonly Nesting[];
  /** The `<p>` around the embed, if it contains nothing else. */
  paragraph?: Paragraph | undefined;
}

/** The children of an embed, which are shown where there is no content. */
export interface Children extends Range {
  /** Their text, where they have to be encoded. */
  text?: string;
  /** What the page needs of them, even if content replaces them: see `findKept`. */
  kept?: readonly Range[];
}

/** A `<p>` with nothing but an embed in it. Block-level content replaces it, or makes it a `<div>`. */
export interface Paragraph extends Range {
  /** Where the names are in its two tags, one byte each, if it has attributes: a `<div>` keeps these. */
  startName?: number;
  endName?: number;
}

/** How content is written at one place of a file: what of it, and in which encodings. */
export interface InsertionFormat {
  as: ShownAs;
  /** The encodings around the content, outermost first. */
  layers: readonly Layer[];
  /** The text of comments around the content, by which edit links find it; `undefined` for no comments. */
  mark?: string | undefined;
}

/** Returns a string that is the same for formats in which content is written alike. */
export const formatKey = ({ as, layers, mark }: InsertionFormat): string => `${as} ${layers.join()} ${mark}`;

/** The part of a found embed that is needed to replace it. */
export type PlacedEmbed = Pick<FoundEmbed, 'start' | 'end' | 'children' | 'format' | 'paragraph'>;

/** An embed that is not whole: in a page an error, elsewhere a warning, as it may be an excerpt. */
export type IncompleteFlaw = 'unclosed' | 'unrendered' | 'nested';

/** An embed in a place where no snippet can be shown. */
export type RefusedPlace = 'in-script' | 'in-unknown-script' | 'in-style' | 'in-attribute' | 'in-format';

/** The reason of a warning: text that may be meant as an embed, or a file in which embeds may not work. */
export type DoubtfulFlaw =
  | IncompleteFlaw
  | 'invalid-id'
  | 'in-id'
  | 'in-code'
  | 'in-xhtml'
  | 'in-xml'
  | 'too-deep'
  | 'utf-16';

/** An embed that fails the build. */
export interface EmbedFault {
  /** A byte offset in the file. */
  start: number;
  flaw: IncompleteFlaw | RefusedPlace;
  /** The name of the attribute or the type of the script that the embed is in. */
  holder?: string | undefined;
  /** The byte offset of the embed around it, for `nested`. */
  outer?: number | undefined;
}

/** A place in a file that may be a mistake, and does not fail the build. */
export interface ScanWarning {
  /** A byte offset in the file. */
  start: number;
  flaw: DoubtfulFlaw;
}

/** A script that mentions the element and holds no embed: it may create one in the browser. */
export interface ScriptMention {
  /** A byte offset in the file. */
  start: number;
  code: string;
}

/** The findings of a scan, each list in the order of the file. */
export interface ScanResults {
  /** Absent without such a script. */
  scripts?: ScriptMention[];
  embeds: FoundEmbed[];
  faults: EmbedFault[];
  warnings: ScanWarning[];
}
