import { type Manifest, type ManifestContent, shownOn } from '../record/manifest.ts';
import type { ListOutput, ShownSnippet } from './cli-output.ts';
import { exitCodes, type Result, shownPlaces, snippetText } from './output.ts';
import { openProject } from './project.ts';
import type { CliContext } from './terminal.ts';

export async function list(context: CliContext): Promise<Result<ListOutput>> {
  const { manifest } = await openProject(context);
  const { builtAt, refreshedAt } = manifest;
  const snippets = listSnippets(manifest);
  return { exitStatus: exitCodes.ok, builtAt, refreshedAt, snippets };
}

export function listSnippets(manifest: Manifest): ShownSnippet[] {
  return shownOn(manifest).map(({ recorded: { id, params, missing, content }, ...places }) => ({
    id,
    params,
    missing,
    content: content && shownContent(content),
    ...shownPlaces(manifest, places),
  }));
}

function shownContent(content: ManifestContent): ShownSnippet['content'] {
  const { hash, variant, fetchedAt, bytes, milliseconds } = content;
  return { hash, variant, fetchedAt: new Date(fetchedAt).toISOString(), bytes, milliseconds };
}

export function listText({ snippets }: Result<ListOutput>): string {
  if (snippets.length === 0) return 'The site shows no snippets.';
  const lines = snippets.map((snippet) =>
    snippetText(snippet, snippet.missing ? ' does not exist: children are shown' : ''),
  );
  return lines.join('\n');
}
