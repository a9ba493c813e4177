import type { EventEmitter } from 'node:events';
import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { CommanderError } from 'commander';
import { type Clock, type Progress, paced } from '../client/clock.ts';
import { cleanJson, cleanLines, cleanText } from '../client/text.ts';
import { isSnippetFailure, UserError, userError } from '../failures/errors.ts';
import type { Document } from './cli-output.ts';

export interface OutputStream {
  write(text: string | Uint8Array): unknown;
  /** For commands that are run. Without it, their output is passed on. */
  fd?: number;
  isTTY?: boolean;
  columns?: number;
}

/** What commands have of the process. */
export interface CliHost {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** For commands that are run. @default 'ignore' */
  stdin?: 'inherit' | 'ignore';
  stdout: OutputStream;
  stderr: OutputStream;
  clock: Clock;
  /** `SIGPIPE` says that nothing reads the output any more. */
  signals?: Pick<EventEmitter, 'on' | 'off'>;
}

export interface Cli extends CliHost {
  terminal: Terminal;
  /** The record, if not in Astro's default `cacheDir`. */
  manifest?: string | undefined;
  /** The output folder, if moved after the build. */
  output?: string | undefined;
  /** Once aborted, nothing more is begun. */
  signal?: AbortSignal;
}

export const exitCodes = {
  ok: 0,
  changed: 10,
  /** There is no usable record, or a refresh cannot update everything. */
  needsBuild: 3,
  failed: 1,
  usage: 2,
} as const;

// About arguments: a report on several snippets has no single code.
const usageErrors: unknown[] = ['missing-output', 'unusable-output', 'invalid-id', 'invalid-params'];

/** Why a command ended, for people and for `--json`. */
export function toFailureResult(thrown: unknown) {
  const { message } = thrown as Error;
  if (thrown instanceof CommanderError) {
    const exitStatus = thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    // Commander has printed it, or a help text.
    return { text: '', exitStatus, error: { code: 'usage', message } };
  }
  const error = isSnippetFailure(thrown) ? userError(thrown.code, message) : thrown;
  const known: Partial<UserError> = error instanceof UserError ? error : {};
  // A report shows the code of each failure itself.
  const { code, hint, codes: [kind = 'unexpected', ...others] = [] } = known;
  const shown = code ? `${message} [${code}]` : message;
  const status = usageErrors.includes(code) ? exitCodes.usage : exitCodes.failed;
  return {
    text: hint === undefined ? shown : `${shown}\n\n${hint}`,
    exitStatus: code === 'missing-manifest' ? exitCodes.needsBuild : status,
    error: { code: others[0] ? 'several' : kind, message, hint },
  };
}

export type Result<Output extends Document> = Omit<Output, 'version' | 'command'>;

const lineColors = { '+': 'green', '-': 'red', '@': 'cyan', ok: 'green', FAILED: 'red' } as const;
const coloredLines = /^ {4}([-+@]).*|^ {2}(ok|FAILED)/gm;

const eraseLine = '\r\u001b[2K';

/** Cleans all that it shows: most contains text from outside. */
export class Terminal {
  readonly #host: CliHost;
  #hasStatus = false;
  /** Whether to print times, and no progress. */
  isLog = false;
  /** The name of the command, if it prints JSON. */
  json: string | undefined;
  /** Of the last document or failure, unless a command sets it. */
  exitStatus: number = exitCodes.ok;

  constructor(host: CliHost) {
    this.#host = host;
  }

  readonly print = (text: string, stream = this.#host.stdout, paint = (clean: string) => clean) => {
    this.clearStatus();
    const time = this.isLog ? `${new Date().toTimeString().slice(0, 8)} ` : '';
    stream.write(`${paint(cleanLines(text)).replace(/^(?=.)/gm, time)}\n`);
  };

  readonly printError = (text: string) => this.print(text, this.#host.stderr);

  printJson(output: object) {
    const indent = this.json === 'watch' ? 0 : 2;
    this.#host.stdout.write(`${cleanJson({ version: 1, command: this.json, ...output }, indent)}\n`);
  }

  /** Prints a document as JSON, or its text, in color where there are colors. */
  show(document: { exitStatus: number }, textOf: () => string) {
    this.exitStatus = document.exitStatus;
    if (this.json) this.printJson(document);
    else this.print(textOf(), this.#host.stdout, this.#colored);
  }

  readonly #colored = (clean: string) => {
    const { stdout, env } = this.#host;
    const isTerminal = stdout.isTTY || env['FORCE_COLOR'] !== undefined;
    // As `styleText` decides it, which reads the variables of the process.
    if (!isTerminal || WriteStream.prototype.getColorDepth(env) <= 2) return clean;
    return clean.replace(coloredLines, (line, sign: keyof typeof lineColors, mark: keyof typeof lineColors) =>
      styleText(lineColors[sign ?? mark], line, { validateStream: false }),
    );
  };

  showFailure(thrown: unknown) {
    const { text, exitStatus, error } = toFailureResult(thrown);
    this.exitStatus = exitStatus;
    if (text !== '') this.printError(text);
    if (this.json && exitStatus !== exitCodes.ok) this.printJson({ exitStatus, error });
  }

  /** How far a long command is: on a terminal, in one line that is rewritten. */
  openProgress(): Progress {
    const { stderr, env, clock } = this.#host;
    if (this.json || this.isLog) return () => {};
    if (!stderr.isTTY || env['TERM'] === 'dumb') {
      return paced({ first: 10_000, every: 10_000 }, this.printError, clock.now);
    }
    const rewrite = (line: string) => {
      // A line that wraps could not be erased.
      const width = (stderr.columns || 80) - 1;
      stderr.write(`${eraseLine}${Array.from(cleanText(line)).slice(0, width).join('')}`);
      this.#hasStatus = true;
    };
    return paced({ first: 2_000, every: 100 }, rewrite, clock.now);
  }

  clearStatus() {
    if (this.#hasStatus) this.#host.stderr.write(eraseLine);
    this.#hasStatus = false;
  }
}
