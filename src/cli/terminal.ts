import type { EventEmitter } from 'node:events';
import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { cleanJson, cleanLines, cleanText } from '../client/clean-text.ts';
import { type Clock, type Progress, paced } from '../client/clock.ts';

export interface OutputStream {
  write(text: string | Uint8Array): unknown;
  /** Commands that are run write to it themselves. Without it, what they write is passed on. */
  fd?: number;
  isTTY?: boolean;
  columns?: number;
}

/** What a command line has of the process that runs it. Nothing else of that process is read or written to. */
export interface CliHost {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** What commands that are run can read: nothing by default. */
  stdin?: 'inherit' | 'ignore';
  stdout: OutputStream;
  stderr: OutputStream;
  /** For what a command waits for itself. */
  clock: Clock;
  /** Where signals arrive. `SIGPIPE` says that nothing reads the output any more. */
  signals?: Pick<EventEmitter, 'on' | 'off'>;
}

export interface CliContext extends CliHost {
  terminal: Terminal;
  /** The path of the manifest, if it is not in Astro's default cache directory. */
  manifest?: string | undefined;
  /** The output folder, if it was moved after the build. */
  output?: string | undefined;
  /** When it is aborted, nothing more is begun. */
  signal?: AbortSignal;
}

/** The colors of lines of patches, and of what `doctor` has checked. */
const colors = { '+': 'green', '-': 'red', '@': 'cyan', ok: 'green', FAILED: 'red' } as const;
const coloredLines = /^ {4}([-+@]).*|^ {2}(ok|FAILED)/gm;

const eraseLine = '\r\u001b[2K';

/** What a command shows: all of it is cleaned, since most contains text from outside. */
export class Terminal {
  readonly #host: CliHost;
  #hasStatus = false;
  /** Whether what is printed for people is a log: with times, and without progress. */
  isLog = false;
  /** The name of the command, if standard output is for its JSON alone. */
  json: string | undefined;

  constructor(host: CliHost) {
    this.#host = host;
  }

  print(text: string): void {
    this.#print('stdout', cleanLines(text));
  }

  /** Prints what a command returns as JSON, or its text, in color if standard output is a terminal that has colors. */
  printDocument<One extends object>(document: One, textOf: (document: One) => string) {
    if (this.json !== undefined) return this.printJson(document);
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

  printJson(output: object): void {
    const indent = this.json === 'watch' ? 0 : 2;
    this.#host.stdout.write(`${cleanJson({ version: 1, command: this.json, ...output }, indent)}\n`);
  }

  /** Says on standard error how far a command is, if that takes long. On a terminal, one line is rewritten. */
  openProgress(): Progress {
    const { stderr, env, clock } = this.#host;
    if (this.json !== undefined || this.isLog) return () => {};
    if (stderr.isTTY !== true || env['TERM'] === 'dumb') {
      return paced({ first: 10_000, every: 10_000 }, (line) => this.printError(line), clock.now);
    }
    const rewrite = (line: string) => {
      // A line that wraps could not be erased.
      const width = (stderr.columns || 80) - 1;
      stderr.write(`${eraseLine}${Array.from(cleanText(line)).slice(0, width).join('')}`);
      this.#hasStatus = true;
    };
    return paced({ first: 2_000, every: 100 }, rewrite, clock.now);
  }

  /** Erases that line. For those that write to the terminal without this class. */
  clearStatus(): void {
    if (this.#hasStatus) this.#host.stderr.write(eraseLine);
    this.#hasStatus = false;
  }
}
