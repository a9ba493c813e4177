import { cleanText, reasonOf } from '../client/clean-text.ts';
import { userError } from '../failures/user-error.ts';

// A URL of the site's own is relative to any page.
const base = 'https://site.invalid/';

/**
 * Where a snippet is edited, as the option `editUrl` says.
 *
 * @param mayBe whether a link to this URL is possible.
 * @throws AstroError if the function throws, or returns anything but a URL that may be linked to.
 */
export function editUrlOf(
  id: number,
  editUrl: (id: string) => unknown,
  mayBe: (url: URL) => boolean = () => true,
): string {
  let url: unknown;
  try {
    url = editUrl(String(id));
  } catch (error) {
    throw userError('invalid-options', `The function editUrl failed for snippet ${id}: ${reasonOf(error)}`);
  }
  // What is no URL is refused below. Its rejection, which nothing else handles, would end the process.
  if (url instanceof Promise) url.catch(() => {});
  if (typeof url === 'string' && URL.canParse(url, base) && mayBe(new URL(url, base))) return url;
  const returned = typeof url === 'string' ? `"${cleanText(url)}"` : `a value of type ${typeof url}`;
  throw userError(
    'invalid-options',
    `The function editUrl returned ${returned} for snippet ${id}, which is no URL that a page can link to.`,
    'It has to return a URL that begins with https:// or http://, or one of the site, such as "/edit/42".',
  );
}
