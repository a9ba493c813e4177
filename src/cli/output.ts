import { cleanText } from '../client/clean-text.ts';
import { entryName } from '../failures/report.ts';
import { fileKind } from '../files/kinds.ts';
import type { Shown } from '../record/changes.ts';
import type { Manifest } from '../record/manifest.ts';
import { publishedUrl } from '../settings/site-urls.ts';
import type { Places, Request, ShownFile } from './cli-output.ts';

/** The exit statuses, for scripts. */
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

type ExitCode = keyof typeof exitCodes;

const always = { failed: 'failed', usage: 'wrong usage' };
const offline = { ok: 'done', needsBuild: 'no usable record: build', ...always };

/** What each exit status of each command means. The help and docs/command-line.md are made from it. */
export const exitMeanings = {
  inline: { ok: 'every embed is inlined', ...always },
  list: offline,
  check: {
    ok: 'nothing changed',
    changed: 'something changed',
    needsBuild: 'no usable record: build',
    ...always,
  },
  refresh: { ok: 'up to date now', needsBuild: 'a build is needed, and why', ...always },
  watch: { needsBuild: 'no usable record: build, or pass --build', ...always },
  report: offline,
  doctor: { ok: 'ready to build', failed: 'not ready', usage: always.usage },
  get: { ok: 'done', ...always },
} as const satisfies Record<string, Partial<Record<ExitCode, string>>>;

/** The exit statuses of a command, for its help. */
export function exitStatusHelp(command: keyof typeof exitMeanings): string {
  const meanings: Partial<Record<ExitCode, string>> = exitMeanings[command];
  const lines = Object.entries(meanings).map(
    ([name, meaning]) => `  ${String(exitCodes[name as ExitCode]).padEnd(3)} ${meaning}`,
  );
  return `\nExit status:\n${lines.join('\n')}`;
}

export function shownFile({ urls }: Pick<Manifest, 'urls'>, file: string): ShownFile {
  return { file, url: publishedUrl(file, fileKind(file) === 'html', urls) };
}

export function shownPlaces(manifest: Pick<Manifest, 'urls'>, { pages, collections }: Shown): Places {
  return { pages: pages.map((file) => shownFile(manifest, file)), collections };
}

/** The names of all places of a snippet, for people. */
export function placeNames({ pages, collections }: Places): string[] {
  return [...pages.map(({ file }) => file), ...collections.map(entryName)];
}

export function nameOf({ id, params }: Request): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}
