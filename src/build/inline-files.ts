import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Form } from '../embed/found.ts';
import type { Range } from '../embed/html-scanner.ts';
import { type Content, compose, type Inlined, inline } from '../embed/inline.ts';
import type { Replacement } from '../embed/replace.ts';
import {
  allowInTag,
  findPolicies,
  type HeaderPolicies,
  type PolicyElement,
  type SourceRules,
  sourcesOf,
} from '../html/content-security-policy.ts';
import { contentIn } from '../html/rules.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import type { FileEmbed } from '../snippets/file-embeds.ts';
import type { EditLinks } from './edit-links/edit-links.ts';
import { inTurns } from './in-turns.ts';
import type { ScannableFile, ScannedSite, SiteFile } from './scan-site.ts';

export interface InlinedFile extends Inlined<FileEmbed> {
  /** The elements that set the page's policy: as they were, and where they are now. */
  policies: PolicyElement[];
}

/**
 * Reads a file, and writes what `change` makes of it, or notes what has to be written.
 *
 * @param kept the bytes of the file if they are in memory; otherwise they are read.
 * @returns what `change` returns.
 */
export type RewriteFile = <Changed extends { file: Buffer }>(
  file: SiteFile,
  kept: Buffer | undefined,
  change: (before: Buffer) => Changed,
) => Changed;

export interface InlineOptions {
  snippets: FetchedSnippets;
  rules: SourceRules;
  /** The policies in headers, if policies are to allow what is inlined. */
  headers: HeaderPolicies | undefined;
  /** What adds edit links to pages, if the site has them. */
  editLinks: EditLinks | undefined;
  rewrite: RewriteFile;
  /** Called with each file once it contains no embed any more. */
  onFile(file: ScannableFile, inlined: InlinedFile): void;
}

/**
 * Replaces the embeds of each file with their contents; those of a snippet without content, with their children. Adds
 * the hashes of inlined code to a page's policy if the site asks for it.
 */
export async function inlineFiles(
  { files }: Pick<ScannedSite, 'files'>,
  options: InlineOptions,
): Promise<void> {
  const inPages = composer((key) => options.snippets.get(key));
  const elsewhere = composer((key) => contentIn(false, options.snippets.get(key)));
  await inTurns(files, (file) => {
    const { source, bytes } = file;
    file.bytes = undefined;
    const bytesOf = source.kind === 'html' ? inPages : elsewhere;
    const inlined = options.rewrite(source, bytes, (before) => inlineFile(before, file, bytesOf, options));
    options.onFile(source, inlined);
  });
}

function inlineFile(
  before: Buffer,
  { source, embeds: found }: { source: ScannableFile; embeds: readonly FileEmbed[] },
  bytesOf: (embed: FileEmbed) => Buffer | undefined,
  { snippets, rules, headers, editLinks }: InlineOptions,
): InlinedFile {
  const isPage = source.kind === 'html';
  const linked = isPage ? editLinks?.add(before, found) : undefined;
  const { embeds, script } = linked ?? { embeds: found };
  const scripts = script === undefined ? [] : [script];
  if (headers === undefined || !isPage) {
    return { ...inline(before, embeds, bytesOf, scripts), policies: [] };
  }
  const shown = embeds.flatMap(({ form, request }) =>
    form.as === 'text' ? [] : (snippets.get(request.key) ?? []),
  );
  const sources = sourcesOf(shown, rules);
  headers.allow(source.name, sources);
  const elements = findPolicies(before).filter(
    ({ start }) => !embeds.some((embed) => contains(embed, start)),
  );
  const tags = elements.map(({ start, end, tag }) => ({ start, end, bytes: allowInTag(tag, sources), tag }));
  const others: (Replacement & { tag?: string })[] = [...tags, ...scripts].sort((a, b) => a.start - b.start);
  const inlined = inline(before, embeds, bytesOf, others);
  const policies = inlined.otherPlaces.flatMap((place, index) => {
    const tag = others[index]?.tag;
    return tag === undefined ? [] : { ...place, tag };
  });
  return { ...inlined, policies };
}

// Contents are in memory anyway. This is how much more they may take.
const maxComposedBytes = 16 * 1024 * 1024;

/** Returns a function that composes the content of an embed, and remembers it for the next that is written alike. */
function composer(contentOf: (key: string) => Content | undefined): (embed: FileEmbed) => Buffer | undefined {
  const composed = new Map<Form, Map<SnippetRequest, Buffer>>();
  let composedBytes = 0;
  return ({ request, form }) => {
    const known = composed.get(form)?.get(request);
    if (known !== undefined) return known;
    const content = contentOf(request.key);
    if (content === undefined) return undefined;
    const bytes = compose(content, form, request.id);
    composedBytes += bytes.length;
    if (composedBytes <= maxComposedBytes) {
      const alike = composed.get(form);
      if (alike === undefined) composed.set(form, new Map([[request, bytes]]));
      else alike.set(request, bytes);
    }
    return bytes;
  };
}

function contains({ start, end }: Range, offset: number): boolean {
  return start <= offset && offset < end;
}
