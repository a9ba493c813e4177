import type { Params } from '../client/params.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, paramsObject } from '../client/snippet-request.ts';
import { SiteError } from '../failures/errors.ts';
import type { ParsedOptions } from '../settings/options.ts';
import { reasonOf } from '../text/clean-text.ts';
import type { AddParams } from './read-embeds.ts';

/**
 * Adds what the option `params` returns for a page to the requests of its embeds, whose own params win. The
 * option is called once for each language of the page. What it throws, or returns besides valid params, makes
 * the embed invalid.
 *
 * @param page the path of the page, as the site publishes it
 */
export function pageParams(option: ParsedOptions['params'], page: string): AddParams | undefined {
  if (!option) return undefined;
  const paramsByLanguage = new Map<string | undefined, Params | undefined>();

  const paramsFor = (lang: string | undefined) => {
    if (paramsByLanguage.has(lang)) return paramsByLanguage.get(lang);
    try {
      // A request with any id checks params as those of an embed are checked.
      const params = paramsObject(createRequest(1, option({ page, lang })));
      paramsByLanguage.set(lang, params);
      return params;
    } catch (error) {
      const reason = error instanceof SnippetError ? error.reason : reasonOf(error);
      throw new SiteError('params-failed', `The option \`params\` failed for ${page}: ${reason}`);
    }
  };

  return (request, lang) => {
    const added = paramsFor(lang);
    return added ? createRequest(request.id, { ...added, ...paramsObject(request) }) : request;
  };
}
