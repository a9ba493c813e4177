import { userError } from '../failures/errors.ts';
import { cleanText, reasonOf } from '../text/clean-text.ts';

/** @throws AstroError if the option throws, or returns anything but a URL that `mayBe` linked to. */
export function editUrlOf(id: number, editUrl: (id: string) => unknown, mayBe = (_url: URL) => true): string {
  let url: unknown;
  try {
    url = editUrl(String(id));
  } catch (error) {
    throw userError('invalid-options', `The function editUrl failed for snippet ${id}: ${reasonOf(error)}`);
  }
  // A promise is refused below. Its rejection would end the process.
  if (url instanceof Promise) url.catch(() => {});
  let returned = `a value of type ${typeof url}`;
  if (typeof url === 'string') {
    // A URL of the site's own is relative to any page.
    const parsed = URL.parse(url, 'https://site.invalid/');
    if (parsed && mayBe(parsed)) return url;
    returned = `"${cleanText(url)}"`;
  }
  throw userError(
    'invalid-options',
    `The function editUrl returned ${returned} for snippet ${id}, which is no URL that a page can link to.`,
    'It has to return a URL that begins with https:// or http://, or one of the site, such as "/edit/42".',
  );
}
