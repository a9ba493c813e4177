import { resolve } from 'node:path';
import { writeAtomically } from '../../files/write.ts';
import { textOf } from '../../markup/text-of.ts';
import { byKey, type Manifest, type RecordedSnippet } from '../../record/manifest.ts';
import { webUrl } from '../../settings/edit-url.ts';
import type { ReportOutput } from '../json-output.ts';
import { openProject } from '../project/open-project.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { Cli, CommandResult } from '../terminal/terminal.ts';
import { listSnippets } from './list.ts';
import { renderReport } from './report-page.ts';

type ReportedSnippet = ReportOutput['snippets'][number];

/**
 * The command `report`: writes one HTML page about the snippets of the last build to a file, or prints what
 * the page is made from as JSON.
 */
export async function report(cli: Cli, to: string): Promise<void> {
  const { manifest } = await openProject(cli);
  const snippets = reportSnippets(manifest);
  const { builtAt, refreshedAt, previous } = manifest;
  const facts = { builtAt, refreshedAt, comparedWith: previous?.at, totals: totalsOf(manifest, snippets) };
  const result: CommandResult<ReportOutput> = { exitStatus: exitCodes.ok, ...facts, snippets };
  const file = resolve(cli.cwd, to);
  if (!cli.terminal.json) writeAtomically(file, await renderReport(result));
  cli.terminal.show(result, () => file);
}

/** The snippets of the site now and before, each with its change: added, changed, gone, same or unknown. */
function reportSnippets(manifest: Manifest): ReportedSnippet[] {
  const { previous } = manifest;
  const previousByKey = byKey(previous?.snippets);
  const snippets = listSnippets(manifest).map((snippet, index): ReportedSnippet => {
    const recorded = manifest.snippets[index];
    const facts = { ...snippet, ...contentFacts(manifest, snippet.id, recorded) };
    if (!previous) return { ...facts, change: 'unknown' };
    const { key = '' } = recorded ?? {};
    const previousSnippet = previousByKey.get(key);
    previousByKey.delete(key);
    if (!previousSnippet) return { ...facts, change: 'added' };
    const isSame = previousSnippet.hash === snippet.content?.hash;
    return { ...facts, change: isSame ? 'same' : 'changed' };
  });
  for (const { id, params } of previousByKey.values()) {
    const name = manifest.names?.[id];
    snippets.push({ id, params, name, change: 'gone', pages: [], collections: [] });
  }
  return snippets;
}

/** How much of a snippet's text is shown, in characters. */
const textLength = 80;

/** What people know a snippet by besides its name: its text, and where they edit it. */
function contentFacts(
  { editUrls, urls }: Manifest,
  id: number,
  recorded: RecordedSnippet | undefined,
): Pick<ReportedSnippet, 'text' | 'editUrl'> {
  const text = textOf(recorded?.content?.text ?? '');
  const characters = Array.from(text.slice(0, textLength * 4));
  const isCut = characters.length > textLength || text.length > textLength * 4;
  return {
    text: (isCut ? `${characters.slice(0, textLength - 1).join('')}…` : text) || undefined,
    editUrl: webUrl(editUrls?.[id], urls?.site),
  };
}

function totalsOf({ snippets, files }: Manifest, reported: ReportedSnippet[]): ReportOutput['totals'] {
  const contents = reported.flatMap(({ content }) => content ?? []);
  return {
    snippets: snippets.length,
    pages: files.length,
    embeds: files.reduce((sum, { shows }) => sum + shows.length, 0),
    bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
    slowestMilliseconds: contents.reduce((slowest, { milliseconds }) => Math.max(slowest, milliseconds), 0),
    changed: reported.filter(({ change }) => change !== 'same' && change !== 'unknown').length,
  };
}
