import { userError } from '../failures/errors.ts';
import { quote, reasonOf } from '../text/clean-text.ts';

/** A URL as a link that works from anywhere; `undefined` for a relative one of an unknown site, or of a script. */
export function webUrl(url: string | undefined, site: string | undefined): string | undefined {
  const parsed = url === undefined ? null : URL.parse(url, site);
  return parsed && isWebUrl(parsed) ? parsed.href : undefined;
}

/** Whether a page may link to a URL: one of `javascript:` would run code. */
export const isWebUrl = ({ protocol }: URL): boolean => /^https?:$/.test(protocol);

/**
 * Calls the option `editUrl` for a snippet.
 *
 * @param isAllowed whether a page may link to this URL.
 * @throws UserError if the option throws, or returns anything but a URL that is allowed.
 */
export function editUrlOf(
  id: number,
  editUrl: (id: string) => unknown,
  isAllowed: (url: URL) => boolean = () => true,
): string {
  let url: unknown;
  try {
    url = editUrl(String(id));
  } catch (error) {
    throw userError('invalid-options', `The function editUrl failed for snippet ${id}: ${reasonOf(error)}`);
  }

  // A promise leads to the error below. Its own rejection is ignored here, as Node would end the process.
  if (url instanceof Promise) url.catch(() => {});
  if (typeof url === 'string') {
    // A placeholder for the site's URL, so that a relative URL can be parsed and checked, too.
    const parsed = URL.parse(url, 'https://site.invalid/');
    if (parsed && isAllowed(parsed)) return url;
  }

  const returned = typeof url === 'string' ? quote(url) : `a value of type ${typeof url}`;
  throw userError(
    'invalid-options',
    `The function editUrl returned ${returned} for snippet ${id}, which is no URL that a page can link to.`,
    'It has to return a URL that begins with https:// or http://, or one of the site, such as "/edit/42".',
  );
}
