#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { SnippetError } from '../client/snippet-error.ts';
import { hints } from '../report/hints.ts';
import { check } from './check.ts';
import { exitCodes } from './exit-codes.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { refresh } from './refresh.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

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
  .action((options) => list(program.opts(), options));

program
  .command('check')
  .description(
    `asks the service which snippets have changed since the build. Exit status: 0 none, ${exitCodes.changed} some, 1 failed`,
  )
  .option('--json', 'as JSON')
  .action((options) => check(program.opts(), options));

program
  .command('refresh')
  .description(
    `puts changed snippets into just the pages that show them, without a build. Exit status: 0 up to date, ${exitCodes.needsBuild} a full build is needed, 1 failed`,
  )
  .option('--dry-run', 'say what would be written')
  .option('--skip-modified', 'leave out pages that were changed after the build')
  .action((options) => refresh(program.opts(), options));

program
  .command('get')
  .description('one snippet, as a build would get it')
  .argument('<id>', "the snippet's id")
  .option('--params <json>', 'variables for the snippet: one JSON object')
  .action((id, options) => get(program.opts(), id, options));

try {
  process.exitCode = await program.parseAsync().then(() => process.exitCode ?? exitCodes.ok);
} catch (error) {
  const { message } = error as Error;
  const hint = error instanceof SnippetError ? hints[error.code] : (error as { hint?: string }).hint;
  process.stderr.write(`${message}\n${hint === undefined ? '' : `\n${hint}\n`}`);
  process.exitCode = exitCodes.failed;
}
