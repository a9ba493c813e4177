import { reasonOf } from '../client/clean-text.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, type Params, paramsObject, type SnippetRequest } from '../client/snippet-request.ts';
import { SiteError } from '../failures/errors.ts';
import type { ParsedOptions } from '../settings/options.ts';

/** Adds what the site passes to every snippet of a page to the request of one embed. */
export type AddPageParams = (request: SnippetRequest, lang: string | undefined) => SnippetRequest;

/**
 * Adds what the option `params` returns for a page to requests. The params of a request win. The function is asked once
 * for each language of the page.
 *
 * @returns a function that throws SiteError `params-failed`, or SnippetError `invalid-params`; `undefined` without the
 * option.
 */
export function pageParams(params: ParsedOptions['params'], page: string): AddPageParams | undefined {
  if (params === undefined) return undefined;
  const known = new Map<string | undefined, () => Params | undefined>();
  return (request, lang) => {
    const ask = known.get(lang) ?? outcomeOf(() => askFor(params, page, lang));
    known.set(lang, ask);
    const added = ask();
    return added === undefined ? request : createRequest(request.id, { ...added, ...paramsObject(request) });
  };
}

function askFor(
  params: NonNullable<ParsedOptions['params']>,
  page: string,
  lang: string | undefined,
): Params | undefined {
  const failed = (reason: string) =>
    new SiteError('params-failed', `The option \`params\` failed for ${page}: ${reason}`);
  let returned: unknown;
  try {
    returned = params({ page, lang });
  } catch (error) {
    throw failed(reasonOf(error));
  }
  try {
    // The id does not matter. Checked as the params of an embed are.
    return paramsObject(createRequest(1, returned));
  } catch (error) {
    throw error instanceof SnippetError ? failed(error.reason) : error;
  }
}

/** Calls a function now. The one that is returned returns or throws the same, each time. */
function outcomeOf<T>(call: () => T): () => T {
  try {
    const result = call();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
