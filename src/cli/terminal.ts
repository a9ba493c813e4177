import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { cleanJson, cleanLines, cleanText } from '../client/clean-text.ts';
import { type Progress, paced } from '../record/progress.ts';
import type { Document } from './cli-output.ts';
import type { CliHost } from './context.ts';

/** The colors of lines of patches, and of what `doctor` has checked. */
const colors = { '+': 'green', '-': 'red', '@': 'cyan', ok: 'green', FAILED: 'red' } as const;
const coloredLines = /^ {4}([-+@]).*|^ {2}(ok|FAILED)/gm;

const eraseLine = '\r\u001b[2K';

/** What a command shows: all of it is cleaned, since most contains text from outside. */
export class Terminal {
  readonly #host: Pick<CliHost, 'env' | 'stdout' | 'stderr'>;
  #hasStatus = false;
  /** Whether what is printed for people is a log: with times, and without progress. */
  isLog = false;
  /** Whether standard output is for JSON alone. */
  isJson = false;

  constructor(host: Pick<CliHost, 'env' | 'stdout' | 'stderr'>) {
    this.#host = host;
  }

  print(text: string): void {
    this.#print('stdout', cleanLines(text));
  }

  /** Prints the document of a command as JSON, or its text, in color if standard output is a terminal that has colors. */
  printDocument<One extends Document>(document: One, textOf: (document: One) => string) {
    if (this.isJson) return this.printJson(document);
    const { stdout, env } = this.#host;
    const isTerminal = stdout.isTTY === true || env['FORCE_COLOR'] !== undefined;
    // As `styleText` decides it, whose variables are always those of the process.
    const hasColors = isTerminal && WriteStream.prototype.getColorDepth(env) > 2;
    const paint = (line: string, sign: keyof typeof colors, mark: keyof typeof colors) =>
      styleText(colors[sign ?? mark], line, { validateStream: false });
    const clean = cleanLines(textOf(document));
    this.#print('stdout', hasColors ? clean.replace(coloredLines, paint) : clean);
  }

  printError(text: string): void {
    this.#print('stderr', cleanLines(text));
  }

  #print(stream: 'stdout' | 'stderr', clean: string): void {
    this.clearStatus();
    const time = `${new Date().toTimeString().slice(0, 8)} `;
    this.#host[stream].write(`${this.isLog ? clean.replace(/^(?=.)/gm, time) : clean}\n`);
  }

  printJson<Output extends { version: 1; command: string }>(output: Output): void {
    const indent = output.command === 'watch' ? 0 : 2;
    this.#host.stdout.write(`${cleanJson(output, indent)}\n`);
  }

  /** Says on standard error how far a command is, if that takes long. On a terminal, one line is rewritten. */
  openProgress(now: () => number): Progress {
    const { stderr, env } = this.#host;
    if (this.isJson || this.isLog) return () => {};
    if (stderr.isTTY !== true || env['TERM'] === 'dumb') {
      return paced({ first: 10_000, every: 10_000 }, (line) => this.printError(line), now);
    }
    return paced({ first: 2_000, every: 100 }, (line) => this.#showStatus(line), now);
  }

  #showStatus(line: string): void {
    const { stderr } = this.#host;
    // A line that wraps could not be erased.
    const width = (stderr.columns || 80) - 1;
    stderr.write(`${eraseLine}${Array.from(cleanText(line)).slice(0, width).join('')}`);
    this.#hasStatus = true;
  }

  /** Erases that line. For those that write to the terminal without this class. */
  clearStatus(): void {
    if (this.#hasStatus) this.#host.stderr.write(eraseLine);
    this.#hasStatus = false;
  }
}
