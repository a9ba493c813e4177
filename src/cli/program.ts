import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../client/format.ts';
import { exitCodes, type exitMeanings, exitStatusHelp, explain } from './output.ts';
import { type CliContext, type CliHost, Terminal } from './terminal.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const afterHelp = 'run once after pages were written, such as for a search index';

const listsHelp =
  'For these commands, ASTRO_SNIPPETS_CHANGED_FILES and ASTRO_SNIPPETS_CHANGED_URLS are paths of lists of what has changed.';

export async function runCli(argv: readonly string[], host: CliHost): Promise<number> {
  const { program, run, fail } = createProgram({ ...host, terminal: new Terminal(host) }, argv);
  await program.parseAsync(argv, { from: 'user' }).catch(fail);
  return run.exitStatus;
}

// Each command is imported when it runs: a short command spends most of its time on loading code.
/** The command line. The reference in the docs is made from it. */
export function createProgram(context: CliContext, argv: readonly string[] = []) {
  const { stdout, stderr, terminal } = context;
  const run: { exitStatus: number } = { exitStatus: exitCodes.ok };
  const show = <One extends { exitStatus: number }>(document: One, text: (document: One) => string) => {
    run.exitStatus = document.exitStatus;
    terminal.printDocument(document, text);
  };
  const fail = (thrown: unknown) => {
    const { text, exitStatus, error } = explain(thrown);
    run.exitStatus = exitStatus;
    if (text !== '') terminal.printError(text);
    if (terminal.json && exitStatus !== exitCodes.ok) terminal.printJson({ exitStatus, error });
  };
  const program = new Command('astro-snippets')
    .description(
      'Lists the snippets of a built site, checks which have changed, and updates the site. Inlines snippets into the output of any generator.',
    )
    .version(version)
    .option('--manifest <file>', "the record of the last build, if it is not in Astro's default cacheDir")
    .option(
      '--output <folder>',
      'the built site, if it was moved after the build; for inline, where to write, if not in place',
    )
    .showHelpAfterError()
    // Throws where commander would exit with 1, which is the status of a check that failed.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => (stdout.isTTY ? stdout.columns : undefined) as number,
      getErrHelpWidth: () => (stderr.isTTY ? stderr.columns : undefined) as number,
    })
    .hook('preSubcommand', (_program, command) => {
      const asks = argv.includes('--json') && command.options.some(({ long }) => long === '--json');
      terminal.json = asks ? command.name() : undefined;
      Object.assign(context, program.opts());
    });
  const scriptsOption = new Option('--scripts <rule>', 'what to do with scripts in snippets');
  const addCommand = (name: keyof typeof exitMeanings, description: string) =>
    program.command(name).description(description).addHelpText('after', exitStatusHelp(name));

  addCommand('inline', 'inline snippets into what any generator has written')
    .argument('<folder>', 'the folder that the generator has written')
    .option('--render-base-url <url>', 'base URL for rendering')
    .option('--retrieve-base-url <url>', 'base URL for retrieving')
    .option('--concurrency <number>', 'requests made at the same time', Number)
    .option('--timeout <duration>', 'how long to fetch snippets')
    .option('--exclude <pattern...>', 'files whose embeds stay: glob patterns')
    .addOption(scriptsOption.choices(['allow', 'strip', 'error']))
    .option('--strict', 'fail on HTML that would swallow the rest of a page')
    .option('--stale-if-error <duration>', 'how long the last good content may replace a snippet')
    .option('--offline', 'use only the cache')
    .addHelpText('after', 'Options are also read from snippets.config.js (.mjs, .ts), its default export.')
    .action(async (folder, options, command: Command) => {
      const { inline } = await import('./inline.ts');
      await inline(context, folder, options, (message) => command.error(message));
    });

  addCommand('list', 'list snippets and their pages; works offline')
    .option('--json', 'print JSON')
    .action(async () => {
      const { list, listText } = await import('./list.ts');
      show(await list(context), listText);
    });

  addCommand('check', 'say which snippets have changed since the build')
    .option('--json', 'print JSON')
    .option('--exec <command>', 'run when something changed or there is no usable record', parseCommand)
    .addHelpText('after', 'With --exec, the exit status of the command replaces 10 and 3.')
    .addHelpText('after', listsHelp)
    .action(async ({ exec }) => {
      const { check, checkAndRun, checkText } = await import('./check.ts');
      if (exec === undefined) show(await check(context), checkText);
      else run.exitStatus = await checkAndRun(context, exec, fail);
    });

  addCommand('refresh', 'write changed snippets into pages, without a build')
    .option('--dry-run', 'show what would change without writing')
    .option('--json', 'print JSON')
    .option('--skip-modified', 'skip pages that were changed after the build')
    .option('--after <command>', afterHelp, parseCommand)
    .addHelpText('after', listsHelp)
    .action(async (options) => {
      const { refresh, refreshText } = await import('./refresh.ts');
      const { document } = await refresh(context, options);
      if (document.after?.exitStatus) terminal.printError(`${document.nextStep}`);
      show(document, refreshText);
    });

  addCommand('watch', 'check and refresh regularly, and run a command after changes')
    .option(
      '--every <duration>',
      'how often to check, varied by 10% (default: 30s; with --listen, 5m)',
      parseInterval,
    )
    .option(
      '--listen <host:port>',
      'also check when a signed call arrives, such as 127.0.0.1:8787',
      parseListen,
    )
    .option('--build <command>', 'build command, run if a refresh is not enough', parseCommand)
    .option('--exec <command>', 'deploy command, run once for each set of changes', parseCommand)
    .option('--skip-modified', 'skip pages that were changed after the build')
    .option('--after <command>', afterHelp, parseCommand)
    .option('--json', 'print events as JSON, one a line')
    .addHelpText('after', listsHelp)
    .action(async (options) => {
      const { watch } = await import('./watch.ts');
      run.exitStatus = await watch(context, options);
    });

  addCommand('report', 'write an HTML page about the snippets of the site; works offline')
    .option('--to <file>', 'the file to write', 'snippets-report.html')
    .addOption(new Option('--json', 'print what the page is made from as JSON instead').conflicts('to'))
    .action(async (options) => {
      const { report, writeReport } = await import('./report/report.ts');
      const document = await report(context);
      const file = options.json ? '' : writeReport(context, document, options.to);
      show(document, () => file);
    });

  addCommand('doctor', 'check the setup: environment, URLs, certificate, key')
    .argument('[id]', 'a snippet to fetch; by default one of the last build')
    .option('--json', 'print JSON')
    .action(async (id) => {
      const { doctor, doctorText } = await import('./doctor.ts');
      show(await doctor(context, id), doctorText);
    });

  addCommand('get', 'get one snippet as a build would')
    .argument('<id>', "the snippet's id")
    .option('--params <json>', 'variables for the snippet: one JSON object')
    .action(async (id, options) => {
      const { get } = await import('./get.ts');
      await get(context, id, options);
    });
  return { program, run, fail };
}

function parseInterval(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds < 1_000) {
    throw new InvalidArgumentError('Expected a duration of at least 1s, such as 30s or 5m.');
  }
  return milliseconds;
}

/** The host is required, and written out: `127.1` would be looked up as a name. */
function parseListen(text: string): { host: string; port: number } {
  const [, name = '', digits] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const { hostname } = URL.parse(`http://${text}`) ?? {};
  if (hostname !== name.toLowerCase()) {
    throw new InvalidArgumentError('Expected a host and a port, such as 127.0.0.1:8787 or [::1]:8787.');
  }
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(digits) };
}

/** A variable that is not set would make the command empty, and succeed. */
function parseCommand(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Expected a command.');
  return text;
}
