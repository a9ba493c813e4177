import { hash } from 'node:crypto';

const sizes = { md5: 16, sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;
type Algorithm = keyof typeof sizes;
const algorithms = Object.keys(sizes) as Algorithm[];

const hexLength = (algorithm: Algorithm) => sizes[algorithm] * 2;
/** Without padding. */
const base64Length = (algorithm: Algorithm) => Math.ceil((sizes[algorithm] * 4) / 3);

// Long enough for the shortest digest. `-` and `_` are those of base64url, and of `sha256-…`.
const runs = /[A-Za-z0-9+/_-]{22,}/g;
const hexRuns = /[0-9a-f]{32,}/gi;

/** The bytes of a page; or what reads them, for pages that may not fit into memory together. */
export type PageBytes = Buffer | (() => Buffer | undefined);

/**
 * Finds digests of pages in texts, in hexadecimal or base64. Of the texts nothing is kept, since they may be of any size.
 * Pages are hashed by an algorithm once a text contains what may be one of its digests.
 *
 * @returns what finds the first of the pages that a text contains a digest of, as its index.
 */
export function digestFinder(pages: readonly PageBytes[]): (text: string) => number | undefined {
  const tables = new Map<Algorithm, Map<string, number>>();
  const pageOf = (algorithm: Algorithm, digest: string) => {
    const table = tables.get(algorithm) ?? digestsOf(pages, algorithm);
    tables.set(algorithm, table);
    return table.get(digest) ?? Number.POSITIVE_INFINITY;
  };
  return (text) => {
    let first = Number.POSITIVE_INFINITY;
    for (const [run] of text.matchAll(runs)) {
      const base64 = run.replaceAll('-', '+').replaceAll('_', '/');
      for (const algorithm of algorithms) {
        const length = base64Length(algorithm);
        if (run.length < length) break;
        // In a longer run, such as `sha256-…` or a path, it stands at one of the ends.
        for (const digest of [base64.slice(-length), base64.slice(0, length)])
          first = Math.min(first, pageOf(algorithm, digest));
      }
      if (run.length < hexLength('md5')) continue;
      for (const [hex] of run.matchAll(hexRuns)) {
        const algorithm = algorithms.find((one) => hexLength(one) === hex.length);
        if (algorithm !== undefined) first = Math.min(first, pageOf(algorithm, hex.toLowerCase()));
      }
    }
    return Number.isFinite(first) ? first : undefined;
  };
}

function digestsOf(pages: readonly PageBytes[], algorithm: Algorithm): Map<string, number> {
  const digests = new Map<string, number>();
  for (const [index, page] of pages.entries()) {
    const bytes = typeof page === 'function' ? page() : page;
    if (bytes === undefined) continue;
    const hex = hash(algorithm, bytes, 'hex');
    const base64 = Buffer.from(hex, 'hex').toString('base64').replace(/=+$/, '');
    for (const digest of [hex, base64]) if (!digests.has(digest)) digests.set(digest, index);
  }
  return digests;
}
