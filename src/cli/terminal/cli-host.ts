import type { EventEmitter } from 'node:events';
import type { Clock } from '../../client/clock.ts';

/** Standard output or standard error. */
export interface OutputStream {
  write(text: string | Uint8Array): unknown;
  /**
   * A descriptor that commands started by this one can write to. Without it, their output is read and passed
   * on.
   */
  fd?: number;
  isTTY?: boolean;
  /** The width of the terminal, in characters. */
  columns?: number;
}

/** The parts of a process that the command line uses. Tests pass their own. */
export interface CliHost {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The standard input of commands that are started by this one. @default 'ignore' */
  stdin?: 'inherit' | 'ignore';
  stdout: OutputStream;
  stderr: OutputStream;
  clock: Clock;
  /** Emits `SIGINT` and `SIGTERM`, and `SIGPIPE` when nothing reads the output any more. */
  signals?: Pick<EventEmitter, 'on' | 'off'>;
}
