export type { RenderedSnippet, RetrievedSnippet } from './answer.ts';
export type { PublicLimits as Limits } from './limits.ts';
export type { Counts, Notice } from './scheduler.ts';
export {
  type RequestOptions,
  type Snippet,
  SnippetClient,
  type SnippetClientOptions,
} from './snippet-client.ts';
export {
  defineSnippet,
  type Json,
  type Params,
  type ParamsOf,
  type ParamsSchema,
  type SnippetDefinition,
  SnippetError,
  type SnippetErrorCode,
  type Variant,
} from './snippet-request.ts';
