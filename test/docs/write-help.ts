import { testProgram } from '../support/tools/cli.ts';

const program = testProgram();
// `npm run lint:docs`: the help of every command, for the spelling and style checks.
for (const command of [program, ...program.commands]) {
  command.configureOutput({ writeOut: (text) => process.stdout.write(text) });
  command.outputHelp();
}
