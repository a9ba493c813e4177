/**
 * What reads an id and params, without the client that sends them: for whoever only writes or reads embeds,
 * and must not load an HTTP library to do so.
 */
export { checkParams, type ParamsOf, type ParamsSchema, type SnippetDefinition } from './define-snippet.ts';
export { canonicalParams, type Params, parseParams } from './params.ts';
export { SnippetError } from './snippet-error.ts';
export { parseSnippetId } from './snippet-id.ts';
