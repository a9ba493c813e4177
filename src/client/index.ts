export { defineSnippet, type ParamsOf, type ParamsSchema, type SnippetDefinition } from './define-snippet.ts';
export type { PublicLimits as Limits } from './limits.ts';
export type { Json, Params } from './params.ts';
export type { Counts, Notice } from './scheduling/notice.ts';
export {
  type RequestOptions,
  type Snippet,
  SnippetClient,
  type SnippetClientOptions,
} from './snippet-client.ts';
export { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
export type { RenderedSnippet, RetrievedSnippet, Variant } from './variants.ts';
