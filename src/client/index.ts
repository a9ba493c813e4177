export type { RenderedSnippet, RetrievedSnippet } from './answer.ts';
export { defineSnippet, type ParamsOf, type ParamsSchema, type SnippetDefinition } from './define-snippet.ts';
export type { Limits } from './limits.ts';
export type { Notice } from './notice.ts';
export type { Json, Params } from './params.ts';
export {
  type Counts,
  type RequestOptions,
  type Snippet,
  SnippetClient,
  type SnippetClientOptions,
} from './snippet-client.ts';
export { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
export type { Variant } from './variant.ts';
