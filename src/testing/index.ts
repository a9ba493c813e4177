export {
  type SnippetAnswer,
  type SnippetFault,
  type SnippetHandlersOptions,
  snippetHandlers,
} from './snippet-handlers.ts';
