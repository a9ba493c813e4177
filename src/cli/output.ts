import { styleText } from 'node:util';
import { cleanJson, cleanLines, cleanText } from '../client/clean-text.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type {
  CheckOutput,
  DoctorOutput,
  ErrorOutput,
  ListOutput,
  RefreshOutput,
  ReportOutput,
  WatchOutput,
} from './cli-output.ts';

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

const patchColors = { '+': 'green', '-': 'red', '@': 'cyan' } as const;

/**
 * Prints lines, cleaned as a whole: most contain text from outside.
 *
 * @param paint colors the lines afterwards, since cleaning removes colors.
 */
export function print(text: string, paint: (clean: string) => string = (clean) => clean): void {
  clearStatus();
  process.stdout.write(`${paint(cleanLines(text))}\n`);
}

let hasStatus = false;
const eraseLine = '\r\u001b[2K';

/** Shows a line on the terminal of standard error, until something else is shown. */
export function showStatus(line: string): void {
  // A line that wraps could not be erased.
  const width = (process.stderr.columns || 80) - 1;
  process.stderr.write(`${eraseLine}${Array.from(cleanText(line)).slice(0, width).join('')}`);
  hasStatus = true;
}

/** Erases that line. For those that write to the terminal without the functions of this file. */
export function clearStatus(): void {
  if (hasStatus) process.stderr.write(eraseLine);
  hasStatus = false;
}

/** Prints lines to standard error, cleaned. */
export function printError(text: string): void {
  clearStatus();
  process.stderr.write(`${cleanLines(text)}\n`);
}

type Output =
  | CheckOutput
  | DoctorOutput
  | ErrorOutput
  | ListOutput
  | RefreshOutput
  | ReportOutput
  | WatchOutput;
type Unversioned<One> = One extends unknown ? Omit<One, 'version'> : never;

/** Prints what `--json` asks for: one document, or of a watch one line for each event. */
export function printJson(output: Unversioned<Output>): void {
  const indent = output.command === 'watch' ? 0 : 2;
  process.stdout.write(`${cleanJson({ version: 1, ...output }, indent)}\n`);
}

export function nameOf({ id, params }: Pick<SnippetRequest, 'id' | 'params'>): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}

/** In color, if standard output is a terminal that supports it. */
export function colored(color: Parameters<typeof styleText>[0], text: string): string {
  return styleText(color, text, { stream: process.stdout });
}

export function printPatch(patch: string): void {
  for (const line of cleanLines(patch).trimEnd().split('\n')) {
    const color = patchColors[line.charAt(0) as keyof typeof patchColors];
    print(`    ${line}`, (clean) => (color === undefined ? clean : colored(color, clean)));
  }
}
