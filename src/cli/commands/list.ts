import { findUsage } from '../../record/changes.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { ListOutput } from '../json-output.ts';
import { shownSnippet, snippetLines } from '../project/lines.ts';
import { openProject } from '../project/open-project.ts';
import type { Cli } from '../terminal/cli.ts';
import { exitCodes, type Result } from '../terminal/exit-codes.ts';

export async function list(cli: Cli): Promise<void> {
  const { manifest } = await openProject(cli);
  const { builtAt, refreshedAt } = manifest;
  const snippets = listSnippets(manifest);
  const document: Result<ListOutput> = { exitStatus: exitCodes.ok, builtAt, refreshedAt, snippets };
  const lines = snippetLines(snippets, ' does not exist: children are shown');
  cli.terminal.show(document, () => lines.join('\n') || 'The site shows no snippets.');
}

export const listSnippets = (manifest: Manifest): ListOutput['snippets'] =>
  findUsage(manifest).map((shown) => {
    const { missing, content } = shown.recorded;
    if (!content) return shownSnippet(manifest, shown, { missing });
    const { hash, variant, bytes, milliseconds } = content;
    const fetchedAt = new Date(content.fetchedAt).toISOString();
    return shownSnippet(manifest, shown, { content: { hash, variant, fetchedAt, bytes, milliseconds } });
  });
