import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, paramsObject } from '../client/snippet-request.ts';
import { SiteError } from '../failures/errors.ts';
import type { ParsedOptions } from '../settings/options.ts';
import { reasonOf } from '../text/clean-text.ts';
import type { ReadableFile } from './read-embeds.ts';

/** Adds what the option `params` returns to requests, whose own params win. */
export function pageParams(params: ParsedOptions['params'], page: string): ReadableFile['addParams'] {
  if (!params) return undefined;
  const known = new Map<string | undefined, ReturnType<typeof paramsObject>>();
  return (request, lang) => {
    try {
      // Checked as the params of an embed are.
      if (!known.has(lang)) known.set(lang, paramsObject(createRequest(1, params({ page, lang }))));
    } catch (error) {
      const reason = error instanceof SnippetError ? error.reason : reasonOf(error);
      throw new SiteError('params-failed', `The option \`params\` failed for ${page}: ${reason}`);
    }
    const added = known.get(lang);
    return added ? createRequest(request.id, { ...added, ...paramsObject(request) }) : request;
  };
}
