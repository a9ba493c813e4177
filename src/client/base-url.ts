import { cleanText } from '../text/clean-text.ts';
import { SnippetError } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';
import type { Variant } from './variants.ts';

/** With its path prefix (specification, section 1), without a trailing slash. */
export type BaseUrl = ReturnType<typeof parseBaseUrl>;

/** @throws SnippetError `invalid-options`, with a message that begins with `name`. */
export function parseBaseUrl(
  name: string,
  value: unknown,
): {
  href: string;
  origin: string;
} {
  const invalid = (flaw: string) => new SnippetError('invalid-options', `${name} ${flaw}`);
  if (typeof value !== 'string') throw invalid('must be a string.');
  const url = URL.parse(value);
  if (!url) throw invalid('must be an absolute URL, such as "https://snippets.example.com/v1".');
  // First, and without the URL: what precedes the @ may be a secret.
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

/** Specification, sections 4.1 and 4.2. */
export function snippetUrl({ href }: BaseUrl, variant: Variant, { id, params }: SnippetRequest): string {
  const path = `${href}/snippets/${id}${variant === 'render' ? '/render' : ''}`;
  return params ? `${path}?params=${encodeURIComponent(params)}` : path;
}
