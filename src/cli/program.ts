import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { errors, isSnippetFailure } from '../failures/errors.ts';
import type { UserError } from '../failures/user-error.ts';
import { parseDuration } from '../settings/duration.ts';
import { exitCodes, printError } from './output.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

// Each command is imported when it runs: a short command spends most of its time on loading code.
const program = new Command('astro-snippets')
  .description('Lists the snippets of a built site, checks which have changed, and updates the site.')
  .version(version)
  .option('--manifest <file>', "the manifest of the last build, if it is not in Astro's default cacheDir")
  .option('--output <folder>', 'the built site, if it was moved after the build')
  .showHelpAfterError()
  .showSuggestionAfterError();

program
  .command('list')
  .description('list the snippets and the pages they are on; works offline')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./list.ts')).list(program.opts(), options));

program
  .command('check')
  .description(
    `check which snippets have changed since the build. Exit status: 0 none, ${exitCodes.changed} some, 1 failed`,
  )
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./check.ts')).check(program.opts(), options));

program
  .command('refresh')
  .description(
    `write changed snippets into the pages that show them, without a build. Exit status: 0 up to date, ${exitCodes.needsBuild} a build is needed, 1 failed`,
  )
  .option('--dry-run', 'show what would change without writing')
  .option('--skip-modified', 'skip pages that were changed after the build')
  .action(async (options) => (await import('./refresh.ts')).refresh(program.opts(), options));

program
  .command('watch')
  .description('check regularly, refresh when a snippet was published, and run a command')
  .addOption(
    new Option('--every <duration>', 'how often to check, varied by 10%')
      .default(30_000, '30s')
      .argParser(parseInterval),
  )
  .option('--exec <command>', 'deploy command, run once for each set of changes')
  .option('--skip-modified', 'skip pages that were changed after the build')
  .action(async (options) => (await import('./watch.ts')).watch(program.opts(), options));

program
  .command('report')
  .description(
    'write an HTML page about the snippets of the site: size, speed, pages, changes; works offline',
  )
  .option('--to <file>', 'the file to write', 'snippets-report.html')
  .action(async (options) => (await import('./report/report.ts')).report(program.opts(), options));

program
  .command('doctor')
  .description('check the setup: environment, URLs, certificate, key, each variant')
  .argument('[id]', 'a snippet to fetch; by default one of the last build')
  .action(async (id) => (await import('./doctor/doctor.ts')).doctor(program.opts(), id));

program
  .command('get')
  .description('get one snippet as a build would')
  .argument('<id>', "the snippet's id")
  .option('--params <json>', 'variables for the snippet: one JSON object')
  .action(async (id, options) => (await import('./get.ts')).get(program.opts(), id, options));

function parseInterval(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds < 1_000) {
    throw new InvalidArgumentError('Expected a duration of at least 1s, such as 30s or 5m.');
  }
  return milliseconds;
}

try {
  process.exitCode = await program.parseAsync().then(() => process.exitCode ?? exitCodes.ok);
} catch (error) {
  const { message, hint } = explain(error);
  printError(hint === undefined ? message : `${message}\n\n${hint}`);
  process.exitCode = exitCodes.failed;
}

function explain(error: unknown): { message: string; hint: string | undefined } {
  if (isSnippetFailure(error)) {
    return { message: `${error.message} [${error.code}]`, hint: errors[error.code].hint };
  }
  const { name, message, hint } = error as UserError;
  const code = /^astro-snippets\/(.+)$/.exec(name)?.[1];
  return { message: code === undefined ? message : `${message} [${code}]`, hint };
}
