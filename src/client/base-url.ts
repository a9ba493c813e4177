import { cleanText } from './clean-text.ts';
import { SnippetError } from './snippet-error.ts';
import type { Variant } from './variant.ts';

/** A base address (specification, section 1): https, its path prefix kept, no slash at its end. */
export interface BaseUrl {
  href: string;
  origin: string;
}

/**
 * Reads a base address. `name` is what the user knows it by.
 *
 * @throws SnippetError `invalid-options`, with a message that says which part is wrong.
 */
export function parseBaseUrl(name: string, value: unknown): BaseUrl {
  const refuse = (flaw: string) => new SnippetError('invalid-options', `${name} ${flaw}`);
  if (typeof value !== 'string') throw refuse('is not a string.');
  if (!URL.canParse(value)) {
    throw refuse(`is not an absolute address, such as "https://snippets.example.com/v1".`);
  }
  const url = new URL(value);
  // First, and without quoting the address: what stands before the @ may be a secret.
  if (url.username !== '' || url.password !== '') {
    throw refuse('must not hold a user name or password: the API key goes with every request by itself.');
  }
  if (url.protocol !== 'https:') {
    throw refuse(
      `must start with https: (section 5 of the specification: every request is made over HTTPS), not "${cleanText(url.protocol)}".`,
    );
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(value)) {
    throw refuse('must not hold a query or a fragment.');
  }
  return { href: url.href.replace(/\/+$/, ''), origin: url.origin };
}

/** The address of one snippet (specification, sections 4.1 and 4.2). `params` is canonical JSON or nothing. */
export function snippetUrl(base: BaseUrl, variant: Variant, id: number, params: string | undefined): string {
  const path = `${base.href}/snippets/${id}${variant === 'render' ? '/render' : ''}`;
  return params === undefined ? path : `${path}?params=${encodeURIComponent(params)}`;
}
