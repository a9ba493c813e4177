import type { EventEmitter } from 'node:events';
import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Clock } from '../../client/clock.ts';
import { cleanJson, cleanLines, cleanText } from '../../text/clean-text.ts';
import { type Progress, throttledProgress } from '../../text/progress.ts';
import type { Document } from '../json-output.ts';
import { exitCodes, toFailureResult } from './exit-codes.ts';

/** Standard output or standard error. */
export interface OutputStream {
  write(text: string | Uint8Array): unknown;
  /** The file descriptor, which child processes write to. Without it, their output is read and passed on. */
  fd?: number;
  isTTY?: boolean;
  /** The width of the terminal, in characters. */
  columns?: number;
}

/** The parts of a process that the command line uses. Tests pass their own. */
export interface CliHost {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The standard input of child processes. @default 'ignore' */
  stdin?: 'inherit' | 'ignore';
  stdout: OutputStream;
  stderr: OutputStream;
  clock: Clock;
  /** Emits `SIGINT` and `SIGTERM`, and `SIGPIPE` when nothing reads the output any more. */
  signals?: Pick<EventEmitter, 'on' | 'off'>;
}

/** What every command gets: the host, a terminal, and the options before the command's name. */
export interface Cli extends CliHost {
  terminal: Terminal;
  /** The path of the record that `--manifest` names; absent if the record is to be looked for. */
  manifest?: string | undefined;
  /** The folder that `--output` names: the output, if it was moved after the build. */
  output?: string | undefined;
  /** Aborted when a `watch` is stopped, so that it begins no more work. */
  signal?: AbortSignal;
}

/** The result of a command: its JSON document, without what {@link Terminal.printJson} adds. */
export type CommandResult<Output extends Document> = Omit<Output, 'version' | 'command'>;

/** Matches what is shown in color: a line of a diff, or the outcome of a check of `doctor`. */
const coloredLines = /^ {4}([-+@]).*|^ {2}(ok|FAILED)/gm;
const lineColors = { '+': 'green', '-': 'red', '@': 'cyan', ok: 'green', FAILED: 'red' } as const;

const eraseLine = '\r\u001b[2K';

/**
 * Prints the output of commands: text for people, or JSON with `--json`. Control characters are removed from
 * all text, because most of it contains text from the service.
 */
export class Terminal {
  readonly #host: CliHost;
  /** Whether the last line is one of progress, which the next output erases. */
  #showsProgress = false;
  /** Whether the output is a log: lines with the time, and no progress. */
  isLog = false;
  /** The name of the command if it prints JSON; `undefined` if it prints text. */
  json: string | undefined;
  /** The exit status of the last document or failure that was shown, unless a command sets another. */
  exitStatus: number = exitCodes.ok;

  constructor(host: CliHost) {
    this.#host = host;
  }

  readonly print = (
    text: string,
    stream: OutputStream = this.#host.stdout,
    colorize = (cleaned: string): string => cleaned,
  ): void => {
    this.clearProgress();
    const time = this.isLog ? `${new Date().toTimeString().slice(0, 8)} ` : '';
    const nonEmptyLines = /^(?=.)/gm;
    stream.write(`${colorize(cleanLines(text)).replace(nonEmptyLines, time)}\n`);
  };

  readonly printError = (text: string): void => this.print(text, this.#host.stderr);

  printJson(document: object): void {
    // `watch` prints one event a line, so its JSON is not indented.
    const indent = this.json === 'watch' ? 0 : 2;
    this.#host.stdout.write(`${cleanJson({ version: 1, command: this.json, ...document }, indent)}\n`);
  }

  /** Prints the result of a command as JSON, or as text, in color where the output supports it. */
  show(result: { exitStatus: number }, toText: () => string): void {
    this.exitStatus = result.exitStatus;
    if (this.json) this.printJson(result);
    else this.print(toText(), this.#host.stdout, this.#colorize);
  }

  /** Prints why a command failed, and as JSON too if the command prints JSON. */
  showFailure(thrown: unknown): void {
    const { text, exitStatus, error } = toFailureResult(thrown);
    this.exitStatus = exitStatus;
    if (text !== '') this.printError(text);
    if (this.json && exitStatus !== exitCodes.ok) this.printJson({ exitStatus, error });
  }

  /** Shows the progress of a long command on standard error: on a terminal in one line that is rewritten. */
  openProgress(): Progress {
    const { stderr, env, clock } = this.#host;
    if (this.json || this.isLog) return () => {};

    const canRewrite = stderr.isTTY && env['TERM'] !== 'dumb';
    const pace = canRewrite ? { delay: 2_000, interval: 100 } : { delay: 10_000, interval: 10_000 };
    if (!canRewrite) return throttledProgress(pace, this.printError, clock.now);
    const rewrite = (line: string) => {
      // A line that wraps could not be erased, so it is cut at the width of the terminal.
      const maxWidth = (stderr.columns || 80) - 1;
      stderr.write(`${eraseLine}${Array.from(cleanText(line)).slice(0, maxWidth).join('')}`);
      this.#showsProgress = true;
    };
    return throttledProgress(pace, rewrite, clock.now);
  }

  clearProgress(): void {
    if (this.#showsProgress) this.#host.stderr.write(eraseLine);
    this.#showsProgress = false;
  }

  readonly #colorize = (cleaned: string) => {
    const { stdout, env } = this.#host;
    const wantsColor = stdout.isTTY || env['FORCE_COLOR'] !== undefined;
    // `styleText` would read the variables of the process, so the color depth is read from the host's.
    if (!wantsColor || WriteStream.prototype.getColorDepth(env) <= 2) return cleaned;

    type Mark = keyof typeof lineColors;
    return cleaned.replace(coloredLines, (line, diffMark: Mark, outcome: Mark) =>
      styleText(lineColors[diffMark ?? outcome], line, { validateStream: false }),
    );
  };
}
