import { findUsage } from '../../record/changes.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { ListOutput } from '../json-output.ts';
import { snippetLines, toPlacedSnippet } from '../project/describe-snippets.ts';
import { toFlawFacts } from '../project/describe-warnings.ts';
import { openProject } from '../project/open-project.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { Cli, CommandResult } from '../terminal/terminal.ts';

/** The command `list`: lists the snippets of the last build and what shows them. Makes no request. */
export async function list(cli: Cli): Promise<void> {
  const { manifest } = await openProject(cli);
  const { builtAt, refreshedAt } = manifest;
  const snippets = listSnippets(manifest);
  const result: CommandResult<ListOutput> = { exitStatus: exitCodes.ok, builtAt, refreshedAt, snippets };
  const lines = snippetLines(snippets, ' does not exist: children are shown');
  cli.terminal.show(result, () => lines.join('\n') || 'The site shows no snippets.');
}

/** The snippets of a manifest, in its order. */
export function listSnippets(manifest: Manifest): ListOutput['snippets'] {
  return findUsage(manifest).map((usage) => {
    const { missing, content, flaws } = usage.recorded;
    const warnings = flaws?.map((flaw) => {
      const { files = usage.pages } = flaw;
      return toFlawFacts(manifest, flaw, files);
    });
    if (!content) return toPlacedSnippet(manifest, usage, { missing });
    const { hash, variant, bytes, milliseconds } = content;
    const fetchedAt = new Date(content.fetchedAt).toISOString();
    const facts = { hash, variant, fetchedAt, bytes, milliseconds };
    return toPlacedSnippet(manifest, usage, { content: facts, warnings });
  });
}
