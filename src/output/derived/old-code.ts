import { hash } from 'node:crypto';
import { decodeHTMLAttribute } from 'entities/decode';
import { isCodeAttribute } from '../../embed/syntax.ts';
import { attributesOf, type Tag } from '../../markup/tags.ts';
import { walk } from '../../markup/walk.ts';
import type { RecordedContent } from '../../record/manifest.ts';
import type { SiteChanges, TraceFinder } from './site-changes.ts';
import { withoutEscapes } from './words.ts';

/** The algorithms of a Content Security Policy. */
const algorithms = ['sha256', 'sha384', 'sha512'];
/** The length of the shortest digest of these. The start of any other is as good: no two have the same. */
const digestLength = 43;
/** What may contain a digest in hexadecimal, base64 or base64url. */
const longWord = /[\w+/-]{43,}/g;

/**
 * Finds hashes of scripts, styles and attributes with code that a changed snippet had. A Content Security Policy
 * with these blocks the new code, on sites without the option `csp`, too. The hash of code that stays counts if
 * the snippet has other new code.
 */
export function codeFinder(changes: SiteChanges): TraceFinder {
  const snippetByDigest = outdatedDigests(changes);
  if (snippetByDigest.size === 0) return () => undefined;
  return (text) => {
    for (const [run] of withoutEscapes(text).matchAll(longWord)) {
      const inBase64 = run.replaceAll('-', '+').replaceAll('_', '/');
      // A digest may begin anywhere, as in `sha256-…` and in paths.
      for (let start = 0; start + digestLength <= run.length; start++) {
        const snippetId = snippetByDigest.get(inBase64.slice(start, start + digestLength));
        if (snippetId !== undefined) return { kind: 'old-content', snippetId };
      }
    }
    return undefined;
  };
}

/** The ids of snippets by the digests of their old code, if their code changes. */
function outdatedDigests({ manifest, currentContents, pages }: SiteChanges): Map<string, number> {
  const snippetByDigest = new Map<string, number>();
  for (const index of new Set(pages.flatMap(({ changed }) => changed))) {
    const recorded = manifest.snippets[index];
    const old = digestsOf(recorded?.content);
    if (old.symmetricDifference(digestsOf(currentContents[index])).size === 0) continue;
    for (const digest of old) snippetByDigest.set(digest, recorded?.id ?? 0);
  }
  return snippetByDigest;
}

/** The digests of code in a content: as the service sent it and, if a policy needs hashes, as pages show it. */
function digestsOf({ text = '', sources = [] }: Partial<RecordedContent> = {}): Set<string> {
  const shown = sources.map((source) => source.slice("'sha256-".length));
  const sent = [...codesIn(text)].flatMap((code) =>
    algorithms.flatMap((algorithm) => {
      const digest = hash(algorithm, code, 'buffer');
      return [digest.toString('base64'), digest.toString('hex')];
    }),
  );
  return new Set([...shown, ...sent].map((digest) => digest.slice(0, digestLength)));
}

/** The code of scripts, styles and attributes in HTML. All scripts count, as a tool may not ask for their types. */
function codesIn(content: string): Set<string> {
  // Browsers hash code after they have read its line breaks.
  const html = content.replace(/\r\n?/g, '\n');
  const codes = new Set<string>();
  walk<Tag | null>(html, null, {
    open(tag) {
      for (const { name, value } of attributesOf(html, tag)) {
        const code = decodeHTMLAttribute(value);
        if (isCodeAttribute(name, code)) codes.add(code);
      }
      return tag;
    },
    close(name, { start }, tag) {
      if (tag && (name === 'script' || name === 'style')) codes.add(html.slice(tag.end, start));
    },
  });
  return codes;
}
