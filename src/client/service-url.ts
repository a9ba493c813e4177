import { SnippetError, type SnippetRequest } from './snippet-request.ts';
import { cleanText, protectKey } from './text.ts';

/** The service's variants (specification, section 4): `render` is variant B, `retrieve` is variant A. */
export type Variant = 'retrieve' | 'render';

/** With its path prefix (specification, section 1), without a trailing slash. */
export type BaseUrl = ReturnType<typeof parseBaseUrl>;

/** @throws SnippetError `invalid-options`, with a message that begins with `name`. */
export function parseBaseUrl(name: string, value: unknown) {
  const invalid = (flaw: string) => new SnippetError('invalid-options', `${name} ${flaw}`);
  if (typeof value !== 'string') throw invalid('must be a string.');
  const url = URL.parse(value);
  if (url === null) throw invalid('must be an absolute URL, such as "https://snippets.example.com/v1".');
  // First, and without quoting the URL: what precedes the @ may be a secret.
  if (url.username !== '' || url.password !== '') {
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
export function snippetUrl({ href }: BaseUrl, variant: Variant, { id, params }: SnippetRequest) {
  const path = `${href}/snippets/${id}${variant === 'render' ? '/render' : ''}`;
  return params === undefined ? path : `${path}?params=${encodeURIComponent(params)}`;
}

/** Before a key gets into a header: an HTTP library quotes a header that it rejects. From then on, the key is protected. */
export function checkApiKey(key: unknown, name = 'The API key') {
  const invalid = (flaw: string) =>
    new SnippetError('invalid-options', `${name} ${flaw}. Its value is not shown on purpose.`);
  if (typeof key !== 'string') throw invalid('is not a string');
  if (key === '') throw invalid('is empty');
  if (key.trim() !== key) throw invalid('has white space or a line break at its start or end');
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw invalid('contains a space, a control character or a non-ASCII character');
  }
  // A shorter one may be in any page by chance.
  if (key.length < 8) throw invalid('has fewer than 8 characters');
  protectKey(key);
  return key;
}
