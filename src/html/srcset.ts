import { applyEdits } from './edits.ts';

/** A URL in `srcset`, and where it is in it. */
interface Candidate {
  url: string;
  start: number;
  end: number;
}

/** The URLs of a `srcset`, as browsers split it: a URL ends at white space or, without a descriptor, at a comma. */
export function candidatesIn(srcset: string): Candidate[] {
  const candidates: Candidate[] = [];
  const pattern = /[\t\n\f\r ,]*([^\t\n\f\r ,][^\t\n\f\r ]*)/y;
  for (let match = pattern.exec(srcset); match !== null; match = pattern.exec(srcset)) {
    const written = match[1] ?? '';
    const url = withoutCommas(written);
    const start = pattern.lastIndex - written.length;
    candidates.push({ url, start, end: start + url.length });
    if (url.length === written.length) pattern.lastIndex = endOfDescriptors(srcset, pattern.lastIndex);
  }
  return candidates;
}

/** Replaces the URLs of a `srcset`. Every other byte stays. */
export function replaceCandidates(
  srcset: string,
  replacement: (url: string, index: number) => string,
): string {
  const edits = candidatesIn(srcset).map(({ url, start, end }, index) => ({
    start,
    end,
    text: replacement(url, index),
  }));
  return applyEdits(srcset, edits);
}

/** Not by a pattern, which would take quadratic time. */
function withoutCommas(url: string): string {
  let end = url.length;
  while (url.charAt(end - 1) === ',') end -= 1;
  return url.slice(0, end);
}

/** A comma between parentheses does not end the descriptors of a candidate. */
function endOfDescriptors(srcset: string, from: number): number {
  let isInside = false;
  for (let at = from; at < srcset.length; at += 1) {
    const character = srcset[at];
    if (character === ',' && !isInside) return at;
    if (character === '(') isInside = true;
    if (character === ')') isInside = false;
  }
  return srcset.length;
}
