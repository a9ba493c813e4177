export { type EmbedAs, type EmbedAttributes, elementName } from './element.ts';
export {
  decodeAttribute,
  type EmbedFault,
  type EmbedWarning,
  type Form,
  type FoundEmbed,
  type Scan,
} from './found.ts';
export type { Range } from './html-scanner.ts';
export { type Content, compose, type Inlined, inline, isText, type Placed } from './inline.ts';
export { lineAt, type Replacement, replace } from './replace.ts';
export { type FileKind, mayHoldEmbeds, scan } from './scan.ts';
export { textOf } from './text.ts';
