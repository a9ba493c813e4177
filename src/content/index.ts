export { type SnippetEntry, snippetLoader } from './loader.ts';
