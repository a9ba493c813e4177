import { hash } from 'node:crypto';
import type { Variant } from '../client/variant.ts';

/** What tells one answer from every other. `params` is canonical JSON or nothing. */
export interface CacheQuestion {
  baseUrl: string;
  variant: Variant;
  id: number;
  params: string | undefined;
}

/**
 * Returns a function that makes the keys of a cache. The API key is part of each, because another key may see
 * other snippets; it goes in by a hash, and nothing of it can be had from what comes out.
 *
 * Lower-case hexadecimal, so that it is a file name on every system.
 */
export function cacheKeysOf(apiKey: string): (question: CacheQuestion) => string {
  const fingerprint = hash('sha256', apiKey);
  return ({ baseUrl, variant, id, params }) =>
    hash('sha256', JSON.stringify([fingerprint, baseUrl, variant, id, params ?? null]));
}
