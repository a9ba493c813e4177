import type { EmbedAs, EmbedAttributes } from './element.ts';
import type { Range } from './html-scanner.ts';
import type { Layer } from './layers.ts';

/** How content is written in one place of a file. */
export interface Form {
  as: EmbedAs;
  /** The encodings around the content, outermost first. */
  layers: readonly Layer[];
  /** Whether comments around the content say which snippet it is. */
  isMarked?: true | undefined;
}

/** Equal for equal forms. */
export function formKey({ as, layers, isMarked }: Form): string {
  return `${as} ${layers.join()}${isMarked ? ' marked' : ''}`;
}

/** An embed that was found in a file. All places are byte offsets. */
export interface FoundEmbed extends Range {
  /** The attributes, decoded but not validated. */
  attributes: EmbedAttributes;
  /** What to show when the service is down. Empty without children. Their text is known where text is shown. */
  children: Range & { isBlockLevel: boolean; text?: string };
  form: Form;
  /** Whether it is in an island's own markup, which the island renders again in the browser. */
  inIsland: boolean;
  /** Whether it is in a heading with an id, as Markdown generates them. */
  inHeading: boolean;
  /** Whether it is in a paragraph. */
  inParagraph: boolean;
  /** The value of the nearest `lang`. */
  lang?: string | undefined;
  /** The paragraph that contains only this embed, as Markdown generates it. */
  paragraph?: Range;
}

export type Refusal =
  | { flaw: 'in-script' }
  | { flaw: 'in-style' }
  | { flaw: 'in-xml' }
  | { flaw: 'in-attribute'; attribute: string };

/**
 * An embed that has no end, is inside another one (which begins at `outer`), or is in a place where none can work. Or
 * the tag of a component that was not rendered.
 */
export type EmbedFault = { start: number } & (
  | { flaw: 'unclosed' }
  | { flaw: 'unrendered'; tag: string }
  | { flaw: 'nested'; outer: number }
  | Refusal
);

/**
 * Text that looks like an embed but is incomplete, or may be Markdown code: it may be an example or an excerpt. Or a file
 * in which embeds may not work.
 */
export interface EmbedWarning {
  start: number;
  flaw: 'unclosed' | 'nested' | 'invalid-id' | 'unrendered' | 'in-code' | 'in-xhtml' | 'utf-16';
}

/** All in the order of the file. */
export interface Scan {
  embeds: FoundEmbed[];
  faults: EmbedFault[];
  warnings: EmbedWarning[];
}
