import type { EventEmitter } from 'node:events';
import type { Clock } from '../client/clock.ts';
import type { Terminal } from './terminal.ts';

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
