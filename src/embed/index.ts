export { type EmbedAs, type EmbedAttributes, elementName } from './element.ts';
export { inline } from './inline.ts';
export {
  type EmbedFault,
  type FoundEmbed,
  lineAt,
  mayHoldEmbeds,
  type Range,
  type Scan,
  scan,
} from './scan.ts';
