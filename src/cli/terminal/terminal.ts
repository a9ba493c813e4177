import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { cleanJson, cleanLines, cleanText } from '../../text/clean-text.ts';
import { type Progress, throttledProgress } from '../../text/progress.ts';
import type { CliHost, OutputStream } from './cli-host.ts';
import { exitCodes, toFailureResult } from './exit-codes.ts';

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

  readonly print = (
    text: string,
    stream: OutputStream = this.#host.stdout,
    paint = (clean: string): string => clean,
  ): void => {
    this.clearStatus();
    const time = this.isLog ? `${new Date().toTimeString().slice(0, 8)} ` : '';
    stream.write(`${paint(cleanLines(text)).replace(/^(?=.)/gm, time)}\n`);
  };

  readonly printError = (text: string): void => this.print(text, this.#host.stderr);

  printJson(output: object): void {
    const indent = this.json === 'watch' ? 0 : 2;
    this.#host.stdout.write(`${cleanJson({ version: 1, command: this.json, ...output }, indent)}\n`);
  }

  /** Prints a document as JSON, or its text, in color where there are colors. */
  show(document: { exitStatus: number }, textOf: () => string): void {
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

  showFailure(thrown: unknown): void {
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
      return throttledProgress({ delay: 10_000, interval: 10_000 }, this.printError, clock.now);
    }
    const rewrite = (line: string) => {
      // A line that wraps could not be erased.
      const width = (stderr.columns || 80) - 1;
      stderr.write(`${eraseLine}${Array.from(cleanText(line)).slice(0, width).join('')}`);
      this.#hasStatus = true;
    };
    return throttledProgress({ delay: 2_000, interval: 100 }, rewrite, clock.now);
  }

  clearStatus(): void {
    if (this.#hasStatus) this.#host.stderr.write(eraseLine);
    this.#hasStatus = false;
  }
}
