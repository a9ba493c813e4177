import picomatch from 'picomatch';

/** The glob patterns of the option `exclude`, which remember whether they have matched a file. */
export class ExcludePatterns {
  readonly #patterns: { glob: string; matches: (name: string) => boolean; isUsed: boolean }[];

  constructor(globs: readonly string[]) {
    this.#patterns = globs.map((glob) => ({ glob, matches: picomatch(glob), isUsed: false }));
  }

  /** Whether a pattern matches the name of a file. */
  has(name: string): boolean {
    let isMatched = false;
    for (const pattern of this.#patterns) {
      // A pattern that is known to be used is not asked again once another one has matched.
      if ((isMatched && pattern.isUsed) || !pattern.matches(name)) continue;
      pattern.isUsed = true;
      isMatched = true;
    }
    return isMatched;
  }

  /** Warns of each pattern that has matched no file. @param names those of all files that were asked about */
  warnings(names: readonly string[]): string[] {
    const unused = this.#patterns.filter(({ isUsed }) => !isUsed);
    return unused.map(({ glob }) => unusedWarning(glob, names));
  }
}

function unusedWarning(glob: string, names: readonly string[]) {
  const nearest = nearestName(glob, names);
  const example = nearest === undefined ? '' : `, such as "${nearest}"`;
  const intended = variantsOf(glob).find((variant) => {
    const matches = picomatch(variant);
    return names.some((name) => matches(name));
  });
  const question = intended === undefined ? '' : ` Did you mean "${intended}"?`;
  return `exclude: "${glob}" matches no text file of the output. Patterns are compared with paths in the output folder${example}.${question}`;
}

/** Patterns that may be meant: without what stands before paths of the output, and with what may follow. */
function variantsOf(glob: string): string[] {
  const bare = glob.replace(/^(?:\.?\/)+|\/+$/g, '');
  const [, below] = /^[^*/]+\/(.+)/.exec(bare) ?? [];
  const starts = [bare, ...(below === undefined ? [] : [below])];
  return starts.flatMap((start) => [start, `${start}/**`, `${start}.html`, `**/${start}`]);
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The name that shares the most words with a pattern. */
function nearestName(glob: string, names: readonly string[]): string | undefined {
  const wanted = new Set(wordsOf(glob));
  let nearest = names[0];
  let most = 0;
  for (const name of names) {
    const shared = wordsOf(name).filter((word) => wanted.has(word)).length;
    if (shared > most) [nearest, most] = [name, shared];
  }
  return nearest;
}
