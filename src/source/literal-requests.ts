import { createRequest, parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { readSources, type SourceFolders } from './source-files.ts';

const sources = /\.(?:astro|mdx?|html?|[cm]?[jt]sx?|vue|svelte)$/;
const element = /<snippet-embed\b[^>]*>/gi;
const component = /<Snippet\b[^>]*>/g;
const definition = /\b(?:defineSnippet|snippetLoader)\s*(?:<[^(]*>)?\(/g;

/**
 * Finds snippets whose ids are written in the sources of a site: a guess, made before a page is rendered. Params are known
 * if they are written as JSON.
 */
export async function literalRequests(folders: SourceFolders): Promise<SnippetRequest[]> {
  const found = new Map<string, SnippetRequest>();
  for await (const { text } of readSources(folders, sources)) {
    for (const request of requestsIn(text)) found.set(request.key, request);
  }
  return [...found.values()];
}

/** Finds them in one source. */
export function requestsIn(source: string): SnippetRequest[] {
  const found: SnippetRequest[] = [];
  const add = (id: string | undefined, params?: string) => {
    if (id === undefined) return;
    try {
      found.push(params === undefined ? createRequest(Number(id)) : parseRequest(id, params));
    } catch {
      // Not an id, or an example: what the pages contain has the last word.
    }
  };
  for (const [tag] of source.matchAll(element)) {
    add(/\bid=["']?(\d+)/i.exec(tag)?.[1], /\bparams='([^']*)'/i.exec(tag)?.[1]);
  }
  for (const [tag] of source.matchAll(component)) add(/\bid=(?:\{\s*|["'])(\d+)/.exec(tag)?.[1]);
  for (const { index } of source.matchAll(definition)) {
    for (const [, id] of callAt(source, index).matchAll(/\bid:\s*(\d+)/g)) add(id);
  }
  return found;
}

/** A call, up to the parenthesis that closes it. */
function callAt(source: string, start: number): string {
  let depth = 0;
  for (let at = source.indexOf('(', start); at < source.length; at += 1) {
    if (source[at] === '(') depth += 1;
    if (source[at] === ')') depth -= 1;
    if (depth === 0) return source.slice(start, at);
  }
  return source.slice(start);
}
