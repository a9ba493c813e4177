import type { EventEmitter } from 'node:events';
import type { Clock } from '../../client/clock.ts';

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
