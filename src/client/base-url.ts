import { cleanText } from '../text/clean-text.ts';
import { SnippetError } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';
import type { Variant } from './variants.ts';

/** The checked base URL of one variant, rendering or retrieving (specification, section 1). */
export interface BaseUrl {
  /** The whole URL with its path prefix, without a trailing slash. */
  href: string;
  /** Scheme, host and port. Both variants may have the same origin. */
  origin: string;
}

/**
 * Checks a base URL that a user has set.
 *
 * @param name what the message calls the value, such as the option or the environment variable.
 * @throws SnippetError `invalid-options`, with a message that begins with `name`.
 */
export function parseBaseUrl(name: string, value: unknown): BaseUrl {
  const invalid = (flaw: string) => new SnippetError('invalid-options', `${name} ${flaw}`);

  if (typeof value !== 'string') throw invalid('must be a string.');
  const url = URL.parse(value);
  if (!url) throw invalid('must be an absolute URL, such as "https://snippets.example.com/v1".');
  // Checked before the rest: the messages below quote parts of the URL, and must not show a password.
  if (url.username || url.password) {
    throw invalid('must not contain a user name or password. The API key is sent separately.');
  }
  if (url.protocol !== 'https:') {
    const scheme = cleanText(url.protocol);
    throw invalid(`must start with "https:", not "${scheme}". The service accepts HTTPS requests only.`);
  }
  if (/[?#]/.test(value)) throw invalid('must not contain a query or a fragment.');

  return { href: url.href.replace(/\/+$/, ''), origin: url.origin };
}

/** The URL that a request for a snippet goes to (specification, sections 4.1 and 4.2). */
export function snippetUrl({ href }: BaseUrl, variant: Variant, { id, params }: SnippetRequest): string {
  const path = `${href}/snippets/${id}${variant === 'render' ? '/render' : ''}`;
  return params ? `${path}?params=${encodeURIComponent(params)}` : path;
}
