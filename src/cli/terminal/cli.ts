import type { CliHost } from './cli-host.ts';
import type { Terminal } from './terminal.ts';

export interface Cli extends CliHost {
  terminal: Terminal;
  /** The record, if not in Astro's default `cacheDir`. */
  manifest?: string | undefined;
  /** The output folder, if moved after the build. */
  output?: string | undefined;
  /** Once aborted, nothing more is begun. */
  signal?: AbortSignal;
}
