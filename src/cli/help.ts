import type { Command, Help } from 'commander';
import { packageHomepage, packageVersion } from '../settings/versions.ts';
import { exitCodes } from './terminal/exit-codes.ts';

/** What exit statuses mean for a command, as its help says it, by the names of {@link exitCodes}. */
export type StatusMeanings = Partial<Record<keyof typeof exitCodes, string>>;

/** What the help of a command says below its flags. */
export interface CommandHelp {
  statuses: StatusMeanings;
  /** The arguments of an example, after the name of the command. */
  example: string;
  /** The page of the docs about the command, with its heading. @default the command's flags in Command line */
  page?: string;
  /** Sentences about the command, each a paragraph. */
  notes?: readonly string[];
}

/** How the help of all commands looks: each names the flags that may stand before the command, too. */
export const helpLayout: Partial<Help> = {
  showGlobalOptions: true,
  // In columns narrower than this, the default of which is 40, Commander wraps nothing.
  minWidthToWrap: 16,
  visibleGlobalOptions(command) {
    const { options = [] } = command.parent ?? {};
    return options.filter(({ long }) => long !== '--version');
  },
};

/** Adds notes, an example, the exit statuses and the page of the docs to the help of a command. */
export function addHelp(command: Command, { statuses, example, page, notes = [] }: CommandHelp): Command {
  const meanings: Record<string, string> = { failed: 'failed', usage: 'wrong usage', ...statuses };
  const exits = Object.entries(exitCodes).flatMap(([status, code]) =>
    meanings[status] ? `  ${String(code).padEnd(3)} ${meanings[status]}` : [],
  );
  const line = ['npx astro-snippets', command.name(), example].filter(Boolean).join(' ');
  return command.addHelpText('after', ({ error }) => {
    const wrapped = notes.map((note) => wrap(command, note, error));
    const sections = [...wrapped, `Example:\n  ${line}`, ['Exit status:', ...exits].join('\n')];
    return `\n${[...sections, docsLine(page ?? `command-line.md#${command.name()}`)].join('\n\n')}`;
  });
}

/** Adds an example and the page of the docs to the help of the program itself. */
export function addProgramHelp(program: Command): Command {
  const example = 'Example:\n  npx astro-snippets check';
  return program.addHelpText('after', `\n${example}\n\n${docsLine('command-line.md')}`);
}

/** Breaks a text into lines as wide as the terminal. @param isError whether it is printed below an error */
function wrap(command: Command, text: string, isError: boolean): string {
  const { getErrHelpWidth, getOutHelpWidth } = command.configureOutput();
  const width = isError ? getErrHelpWidth?.() : getOutHelpWidth?.();
  // Commander's own width where the output is no terminal.
  return command.createHelp().boxWrap(text, width ?? 80);
}

/** A URL stays in one line, so that a terminal can open it. */
const docsLine = (page: string) => `Docs: ${packageHomepage}/blob/v${packageVersion}/docs/${page}`;
