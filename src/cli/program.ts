import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { SnippetError } from '../client/snippet-error.ts';
import { parseDuration } from '../duration.ts';
import { hints } from '../report/hints.ts';
import { exitCodes } from './exit-codes.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

// Each command is loaded where it is run: most of the time of a short one is loading.
const program = new Command('astro-snippets')
  .description(
    'Which snippets a built site shows, which of them have changed, and the site brought up to date.',
  )
  .version(version)
  .option('--manifest <file>', "the record of the last build, where it is not in Astro's default cacheDir")
  .option('--output <folder>', 'the built site, where it was moved since')
  .showHelpAfterError()
  .showSuggestionAfterError();

program
  .command('list')
  .description('says which snippets are on which pages; asks nobody')
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./list.ts')).list(program.opts(), options));

program
  .command('check')
  .description(
    `asks the service which snippets have changed since the build. Exit status: 0 none, ${exitCodes.changed} some, 1 failed`,
  )
  .option('--json', 'as JSON')
  .action(async (options) => (await import('./check.ts')).check(program.opts(), options));

program
  .command('refresh')
  .description(
    `puts changed snippets into just the pages that show them, without a build. Exit status: 0 up to date, ${exitCodes.needsBuild} a full build is needed, 1 failed`,
  )
  .option('--dry-run', 'show what would change, and write nothing')
  .option('--skip-modified', 'leave out pages that were changed after the build')
  .action(async (options) => (await import('./refresh.ts')).refresh(program.opts(), options));

program
  .command('watch')
  .description('asks now and then, refreshes when something was published, and runs a command')
  .addOption(
    new Option('--every <time>', 'how often to ask; a little more or less each time')
      .default(30_000, '30s')
      .argParser(durationFrom),
  )
  .option('--exec <command>', 'what brings the pages to their readers; run once for each change')
  .option('--skip-modified', 'leave out pages that were changed after the build')
  .action(async (options) => (await import('./watch.ts')).watch(program.opts(), options));

program
  .command('report')
  .description('writes a page that says what is embedded, how large, how slow, and what changed; asks nobody')
  .option('--to <file>', 'where to', 'snippets-report.html')
  .action(async (options) => (await import('./report.ts')).report(program.opts(), options));

program
  .command('doctor')
  .description('says what works and what does not: environment, addresses, certificate, key, each variant')
  .argument('[id]', 'a snippet to ask for; otherwise one of the last build')
  .action(async (id) => (await import('./doctor.ts')).doctor(program.opts(), id));

program
  .command('get')
  .description('one snippet, as a build would get it')
  .argument('<id>', "the snippet's id")
  .option('--params <json>', 'variables for the snippet: one JSON object')
  .action(async (id, options) => (await import('./get.ts')).get(program.opts(), id, options));

function durationFrom(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds < 1_000) {
    throw new InvalidArgumentError('It is a time of a second or more, with its unit: 30s, 5m.');
  }
  return milliseconds;
}

try {
  process.exitCode = await program.parseAsync().then(() => process.exitCode ?? exitCodes.ok);
} catch (error) {
  const { message } = error as Error;
  const hint = error instanceof SnippetError ? hints[error.code] : (error as { hint?: string }).hint;
  process.stderr.write(`${message}\n${hint === undefined ? '' : `\n${hint}\n`}`);
  process.exitCode = exitCodes.failed;
}
