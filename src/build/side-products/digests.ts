import { hash } from 'node:crypto';

const sizes = { md5: 16, sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;
type Algorithm = keyof typeof sizes;

/** What may be a digest, and whose it would be, by its length. */
const encodings = [
  { runs: /[0-9a-f]{32,}/g, lengthOf: (size: number) => size * 2 },
  // Without padding.
  { runs: /[A-Za-z0-9+/]{22,}/g, lengthOf: (size: number) => Math.ceil((size * 4) / 3) },
].map(({ runs, lengthOf }) => {
  const algorithms = Object.keys(sizes) as Algorithm[];
  return { runs, algorithms: new Map(algorithms.map((name) => [lengthOf(sizes[name]), name])) };
});

/** Reads a page. Pages may not fit into memory together. */
type ReadPage = () => Buffer | undefined;

/**
 * Finds digests of pages in texts, in hexadecimal or base64. Of the texts nothing is kept, since they may be of any size.
 * Pages are hashed by an algorithm once a text contains what may be one of its digests.
 *
 * @returns what finds a page that a text contains a digest of, as its index.
 */
export function digestFinder(pages: readonly ReadPage[]): (text: string) => number | undefined {
  const tables = new Map<Algorithm, Map<string, number>>();
  const pageOf = (algorithm: Algorithm, digest: string) => {
    const table = tables.get(algorithm) ?? digestsOf(pages, algorithm);
    tables.set(algorithm, table);
    return table.get(digest);
  };
  return (text) => {
    for (const { runs, algorithms } of encodings) {
      for (const [run] of text.matchAll(runs)) {
        const algorithm = algorithms.get(run.length);
        const page = algorithm && pageOf(algorithm, run);
        if (page !== undefined) return page;
      }
    }
    return undefined;
  };
}

function digestsOf(pages: readonly ReadPage[], algorithm: Algorithm): Map<string, number> {
  const digests = new Map<string, number>();
  for (const [index, page] of pages.entries()) {
    const bytes = page();
    if (bytes === undefined) continue;
    const digest = hash(algorithm, bytes, 'buffer');
    digests.set(digest.toString('hex'), index);
    digests.set(digest.toString('base64').replace(/=+$/, ''), index);
  }
  return digests;
}
