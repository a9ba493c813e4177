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

/** What may be a digest, from any number of texts. To find out, a page is hashed only as often as it could match. */
export class PossibleDigests {
  readonly #sources: Readonly<Record<Algorithm, Map<string, Set<string>>>> = {
    md5: new Map(),
    sha1: new Map(),
    sha256: new Map(),
    sha384: new Map(),
    sha512: new Map(),
  };

  /** @param source what `sourcesOf` is going to answer with. */
  add(text: string, source: string): void {
    for (const [run] of text.matchAll(runs)) {
      for (const algorithm of algorithms) {
        const length = base64Length(algorithm);
        if (run.length < length) break;
        const base64 = run.replaceAll('-', '+').replaceAll('_', '/');
        // In a longer run, such as `sha256-…` or a path, it stands at one of the ends.
        this.#add(algorithm, base64.slice(-length), source);
        this.#add(algorithm, base64.slice(0, length), source);
      }
      if (run.length < hexLength('md5')) continue;
      for (const [hex] of run.matchAll(hexRuns)) {
        const algorithm = algorithms.find((one) => hexLength(one) === hex.length);
        if (algorithm !== undefined) this.#add(algorithm, hex.toLowerCase(), source);
      }
    }
  }

  /** The sources that contain a digest of these bytes, in hexadecimal or base64. */
  sourcesOf(bytes: Buffer): Set<string> {
    const found = new Set<string>();
    for (const algorithm of algorithms) {
      const sources = this.#sources[algorithm];
      if (sources.size === 0) continue;
      const hex = hash(algorithm, bytes, 'hex');
      const base64 = Buffer.from(hex, 'hex').toString('base64').replace(/=+$/, '');
      for (const digest of [hex, base64]) for (const source of sources.get(digest) ?? []) found.add(source);
    }
    return found;
  }

  #add(algorithm: Algorithm, digest: string, source: string): void {
    const sources = this.#sources[algorithm].get(digest);
    if (sources === undefined) this.#sources[algorithm].set(digest, new Set([source]));
    else sources.add(source);
  }
}
