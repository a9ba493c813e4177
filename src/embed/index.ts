export { type EmbedAs, type EmbedAttributes, elementName } from './element.ts';
export { compose, type Form, type Inlined, inline, isText, type Placed } from './inline.ts';
export { type Replacement, replace } from './replace.ts';
export {
  decodeAttribute,
  type EmbedFault,
  type FoundEmbed,
  lineAt,
  mayHoldEmbeds,
  type Range,
  type Scan,
  scan,
} from './scan.ts';
