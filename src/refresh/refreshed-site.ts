import type { SnippetRequest } from '../client/snippet-request.ts';
import type { FileKind } from '../embed/found-embed.ts';
import { fileKind } from '../files/file-kind.ts';
import { type InlinedPage, pageInliner } from '../inlining/inline-page.ts';
import type { Contents } from '../record/changes.ts';
import type { Manifest, ManifestFile } from '../record/manifest.ts';
import { PackReader } from '../record/pack.ts';
import { readEmbeds } from '../snippets/read-embeds.ts';
import type { FetchedSnippets } from '../snippets/snippet-fetcher.ts';
import type { Progress } from '../text/progress.ts';

export interface RefreshedSite {
  file: string;
  manifest: Manifest;
  fetched: FetchedSnippets;
  now: Contents;
  cwd: string;
  progress: Progress;
  readImage(name: string): Promise<Uint8Array | undefined>;
}

export function pageMaker({ file, manifest, fetched }: RefreshedSite) {
  const { rules, linked, snippets } = manifest;
  const pack = new PackReader(file, manifest.pack);
  const inlinePage = pageInliner({ snippets: fetched, rules, linked });
  return (page: ManifestFile): InlinedPage => {
    const { name, shows } = page;
    const generated = pack.read(page);
    const kind = fileKind(name) as FileKind;
    // As asked for: only a build has the option `params`.
    const recorded = shows.values();
    const addParams = (written: SnippetRequest) => snippets[recorded.next().value ?? -1] ?? written;
    const { embeds } = readEmbeds({ name, bytes: generated, kind, addParams }, new Map());
    return inlinePage({ name, kind }, generated, embeds);
  };
}
