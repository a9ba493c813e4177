import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { parseOptions } from '../../src/settings/parse-options.ts';
import { testProgram } from '../support/tools/cli.ts';

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));

/** npm scripts that a reader has. */
const readersScripts = ['build', 'deploy'];
const npmCommands = new Set(['ci', 'test', 'install', 'uninstall', 'publish', 'pack']);
const npxPackages = new Set(['astro', 'astro-snippets', '@11ty/eleventy', 'vitest', 'pagefind']);

/** Flags whose value is another command. */
const commandFlags = ['--exec', '--build', '--after'];

const operator = /[\n;&|(){}]/;
const quoted = /'([^']*)'|"((?:\\.|[^"\\])*)"/g;

/** The simple commands of a script, each as a list of words without quotes. */
export function commandsOf(script: string): string[][] {
  const text = script.replaceAll('\\\n', ' ');
  const parts = text.matchAll(/(?<!\S)#.*|(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\{[^}]*\}|[^\s;&|(){}'"])+|\S|\n/g);
  const commands: string[][] = [[]];
  for (const [part] of parts) {
    if (/^['"]$/.test(part)) throw new Error(`A quote is not closed: ${text.slice(0, 40)}`);
    if (part.startsWith('#')) continue;
    if (operator.test(part.charAt(0))) commands.push([]);
    else {
      const word = part.replace(
        quoted,
        (_, plain?: string, other = '') => plain ?? other.replace(/\\(["\\])/g, '$1'),
      );
      commands.at(-1)?.push(word);
    }
  }
  return commands.filter((words) => words.length > 0);
}

/** What is wrong with a script's commands of this package and of npm. */
export async function shellFlaws(script: string): Promise<string[]> {
  const flaws: string[] = [];
  let commands: string[][];
  try {
    commands = commandsOf(script);
  } catch (error) {
    return [(error as Error).message];
  }
  for (const words of commands) {
    const start = words.findIndex((word) => !/^(export|eval|if|then|do|!|\w+=.*)$/s.test(word));
    const [name, ...rest] = start === -1 ? [] : words.slice(start);
    if (name === 'npm') flaws.push(...npmFlaws(rest));
    if (name === 'npx' || name?.endsWith('/npx')) flaws.push(...(await npxFlaws(rest)));
  }
  return flaws;
}

function npmFlaws([command = '', script = '']: string[]): string[] {
  if (command !== 'run') return npmCommands.has(command) ? [] : [`npm ${command}: unknown`];
  return script in scripts || readersScripts.includes(script) ? [] : [`npm run ${script}: unknown`];
}

async function npxFlaws([name = '', ...arguments_]: string[]): Promise<string[]> {
  if (!npxPackages.has(name)) return [`npx ${name}: unknown`];
  if (name !== 'astro-snippets') return [];
  const inner = arguments_.filter((_, index) => commandFlags.includes(arguments_[index - 1] ?? ''));
  const flaws = await Promise.all(inner.map(shellFlaws));
  return [...commandLineFlaws(arguments_), ...flaws.flat()];
}

/** What the program itself says about these arguments. Nothing is run. */
function commandLineFlaws(arguments_: readonly string[]): string[] {
  const program = testProgram();
  const line = `astro-snippets ${arguments_.join(' ')}`;
  for (const command of program.commands) {
    command.configureOutput({ writeErr() {}, writeOut() {} });
    command.action(() => {
      if (command.name() === 'inline') parseOptions(command.opts(), 'The options are invalid');
      if (command.name() === 'get') parseRequest(command.args[0] ?? '', command.opts()['params']);
    });
  }
  program.configureOutput({ writeErr() {}, writeOut() {} });
  try {
    program.parse(arguments_, { from: 'user' });
    return [];
  } catch (error) {
    return (error as { code?: string }).code === 'commander.helpDisplayed'
      ? []
      : [`${line}: ${(error as Error).message}`];
  }
}
