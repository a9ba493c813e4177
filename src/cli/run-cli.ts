import { CommanderError } from 'commander';
import type { ErrorOutput } from './cli-output.ts';
import type { CliHost } from './context.ts';
import { explain } from './explain.ts';
import { exitCodes } from './output.ts';
import { createProgram } from './program.ts';
import { Terminal } from './terminal.ts';

/**
 * Runs the command that the arguments name. Two at once do not know of one another.
 *
 * @param argv what follows the name of the program.
 * @returns the exit status. Never rejects.
 */
export async function runCli(argv: readonly string[], host: CliHost): Promise<number> {
  const terminal = new Terminal(host);
  const { program, run } = createProgram({ ...host, terminal });
  /** Prints an error for scripts, if the command was asked for JSON. */
  const printJsonError = (error: ErrorOutput['error'], exitStatus: number) => {
    const { command } = run;
    const isAsked = command?.options.some(({ long }) => long === '--json') && argv.includes('--json');
    if (command === undefined || !isAsked) return;
    terminal.printJson({ command: command.name() as ErrorOutput['command'], exitStatus, error });
  };
  try {
    await program.parseAsync(argv, { from: 'user' });
    return run.exitStatus;
  } catch (error) {
    // Commander has printed its own errors already, and help and the version are none.
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok;
      printJsonError({ code: 'usage', message: error.message }, exitCodes.usage);
      return exitCodes.usage;
    }
    const { message, hint, exitCode, error: explained } = explain(error);
    terminal.printError(hint === undefined ? message : `${message}\n\n${hint}`);
    printJsonError(explained, exitCode);
    return exitCode;
  }
}
