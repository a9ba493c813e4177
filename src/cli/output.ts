import { CommanderError } from 'commander';
import type { PageToBuild } from '../build/output-state.ts';
import { cleanText } from '../client/clean-text.ts';
import { type ErrorCode, isSnippetFailure, UserError, userError } from '../failures/errors.ts';
import { entryName } from '../failures/report.ts';
import { fileKind } from '../files/kinds.ts';
import type { Manifest, ShownSnippet } from '../record/manifest.ts';
import { publishedUrl } from '../settings/site-urls.ts';
import type { Document, ErrorOutput, Places, Request, ShownFile } from './cli-output.ts';

/** What a command returns. */
export type Result<Output extends Document> = Omit<Output, 'version' | 'command'>;

export const exitCodes = {
  ok: 0,
  /** `check`: something has changed. */
  changed: 10,
  /** Only a build helps: there is no usable record, or a refresh cannot update everything. */
  needsBuild: 3,
  failed: 1,
  /** An unknown command or option, or an invalid value of one. */
  usage: 2,
} as const;

const always = { failed: 'failed', usage: 'wrong usage' };
const offline = { ok: 'done', needsBuild: 'no usable record: build', ...always };

/** What each exit status of each command means. The help and docs/command-line.md are made from it. */
export const exitMeanings = {
  inline: { ok: 'every embed is inlined', ...always },
  list: offline,
  check: { ...offline, ok: 'nothing changed', changed: 'something changed' },
  refresh: { ok: 'up to date now', needsBuild: 'a build is needed, and why', ...always },
  watch: { needsBuild: 'no usable record: build, or pass --build', ...always },
  report: offline,
  doctor: { ok: 'ready to build', failed: 'not ready', usage: always.usage },
  get: { ok: 'done', ...always },
} as const satisfies Record<string, Partial<Record<keyof typeof exitCodes, string>>>;

export function exitStatusHelp(command: keyof typeof exitMeanings): string {
  const meanings: Partial<Record<string, string>> = exitMeanings[command];
  const lines = Object.entries(exitCodes).map(([name, status]) =>
    meanings[name] === undefined ? '' : `\n  ${String(status).padEnd(3)} ${meanings[name]}`,
  );
  return `\nExit status:${lines.join('')}`;
}

/** Every other error exits with `failed`. */
const exitStatusOf: Partial<Record<ErrorCode, number>> = {
  'missing-manifest': exitCodes.needsBuild,
  'missing-output': exitCodes.usage,
  'unusable-output': exitCodes.usage,
  // Thrown for the arguments of a command. In a report on several snippets, no single code decides.
  'invalid-id': exitCodes.usage,
  'invalid-params': exitCodes.usage,
};

/** Explains an error that ended a command: its text for people, with its code and its hint, and `error` for `--json`. */
export function explain(thrown: unknown): Pick<ErrorOutput, 'exitStatus' | 'error'> & { text: string } {
  const { message } = thrown as Error;
  if (thrown instanceof CommanderError) {
    const exitStatus = thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    // Commander has printed it, or a help text.
    return { text: '', exitStatus, error: { code: 'usage', message } };
  }
  const error = isSnippetFailure(thrown) ? userError(thrown.code, message) : thrown;
  const known: Partial<UserError> = error instanceof UserError ? error : {};
  // A report shows the code of each failure itself.
  const { code, hint, codes: [kind, ...others] = ['unexpected'] } = known;
  const shown = code === undefined ? message : `${message} [${code}]`;
  return {
    text: hint === undefined ? shown : `${shown}\n\n${hint}`,
    exitStatus: (code && exitStatusOf[code]) ?? exitCodes.failed,
    error: { code: others.length === 0 ? `${kind}` : 'several', message, hint: hint || undefined },
  };
}

export function shownFile({ urls }: Pick<Manifest, 'urls'>, file: string): ShownFile {
  return { file, url: publishedUrl(file, fileKind(file) === 'html', urls) };
}

export function shownPlaces(
  manifest: Pick<Manifest, 'urls'>,
  { pages, collections }: Pick<ShownSnippet, 'pages' | 'collections'>,
): Places {
  return { pages: pages.map((file) => shownFile(manifest, file)), collections };
}

/** A snippet, the end of a sentence about it, and below them its places. */
export function snippetText(snippet: Request & Places, text: string): string {
  const { pages, collections } = snippet;
  const places = [...pages.map(({ file }) => file), ...collections.map(entryName)];
  return `${nameOf(snippet)}${text}\n    ${places.join('\n    ')}`;
}

/** One sentence for each, without a period. */
export function notWrittenLines(notWritten: readonly PageToBuild[]): string[] {
  return notWritten.map(({ name, reason }) => `${name} ${reason}`);
}

export function nameOf({ id, params }: Request): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}
