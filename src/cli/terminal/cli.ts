import type { CliHost } from './cli-host.ts';
import type { Terminal } from './terminal.ts';

/**
 * The parameter of every command: the host, a terminal to print to, and the options before the name of the
 * command.
 */
export interface Cli extends CliHost {
  terminal: Terminal;
  /** The path of the record that `--manifest` names; absent if the record is to be looked for. */
  manifest?: string | undefined;
  /** The folder that `--output` names: the output, if it was moved after the build. */
  output?: string | undefined;
  /** Aborted when a `watch` ends: nothing more is begun then. */
  signal?: AbortSignal;
}
