import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { cleanJson, cleanLines, cleanText } from '../client/clean-text.ts';
import type {
  CheckOutput,
  DoctorOutput,
  ErrorOutput,
  ListOutput,
  RefreshOutput,
  ReportOutput,
  WatchOutput,
} from './cli-output.ts';
import type { CliHost, OutputStream } from './context.ts';
import type { Unversioned } from './output.ts';

const patchColors = { '+': 'green', '-': 'red', '@': 'cyan' } as const;

const eraseLine = '\r\u001b[2K';

type Output =
  | CheckOutput
  | DoctorOutput
  | ErrorOutput
  | ListOutput
  | RefreshOutput
  | ReportOutput
  | WatchOutput;

/** What a command shows: all of it is cleaned, since most contains text from outside. */
export class Terminal {
  readonly #host: Pick<CliHost, 'env' | 'stdout' | 'stderr'>;
  #hasStatus = false;
  /** Whether the time is in front of what is printed for people. */
  showsTime = false;

  constructor(host: Pick<CliHost, 'env' | 'stdout' | 'stderr'>) {
    this.#host = host;
  }

  /**
   * Prints lines, cleaned as a whole.
   *
   * @param paint colors the lines afterwards, since cleaning removes colors.
   */
  print(text: string, paint: (clean: string) => string = (clean) => clean): void {
    this.clearStatus();
    this.#host.stdout.write(`${this.#time()}${paint(cleanLines(text))}\n`);
  }

  /** Prints lines to standard error, cleaned. */
  printError(text: string): void {
    this.clearStatus();
    this.#host.stderr.write(`${this.#time()}${cleanLines(text)}\n`);
  }

  #time(): string {
    return this.showsTime ? `${new Date().toTimeString().slice(0, 8)} ` : '';
  }

  /** Prints what `--json` asks for: one document, or of a watch one line for each event. */
  printJson(output: Unversioned<Output>): void {
    const indent = output.command === 'watch' ? 0 : 2;
    this.#host.stdout.write(`${cleanJson({ version: 1, ...output }, indent)}\n`);
  }

  /** Colors the lines of patches in a text. */
  paintPatches(clean: string): string {
    return clean.replace(/^ {4}([-+@]).*/gm, (line, sign: keyof typeof patchColors) =>
      this.colored(patchColors[sign], line),
    );
  }

  /** Whether a line of standard error can be rewritten. */
  get canShowStatus(): boolean {
    const { stderr, env } = this.#host;
    return stderr.isTTY === true && env['TERM'] !== 'dumb';
  }

  /** Shows a line on the terminal of standard error, until something else is shown. */
  showStatus(line: string): void {
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

  /** In color, if standard output is a terminal that supports it. */
  colored(color: Parameters<typeof styleText>[0], text: string): string {
    const { stdout, env } = this.#host;
    return hasColors(stdout, env) ? styleText(color, text, { validateStream: false }) : text;
  }
}

/** As `styleText` decides it for a stream, whose variables are always those of the process. */
function hasColors(stream: OutputStream, env: NodeJS.ProcessEnv): boolean {
  if (env['FORCE_COLOR'] !== undefined) return WriteStream.prototype.getColorDepth(env) > 2;
  return stream.isTTY === true && (stream.getColorDepth?.(env) ?? 4) > 2;
}
