import { Command, InvalidArgumentError, Option } from 'commander';
import { packageVersion } from '../settings/versions.ts';
import { parseDuration } from '../text/format.ts';
import { addHelp, addProgramHelp, type CommandHelp, helpLayout, type StatusMeanings } from './help.ts';
import { type Cli, type CliHost, Terminal } from './terminal/terminal.ts';
import type { ListenAddress } from './webhook-server.ts';

/** Runs a command line. @returns the exit status of the process */
export async function runCli(argv: readonly string[], host: CliHost): Promise<number> {
  const terminal = new Terminal(host);
  const program = createProgram({ ...host, terminal }, argv);
  await program.parseAsync(argv, { from: 'user' }).catch((thrown) => terminal.showFailure(thrown));
  return terminal.exitStatus;
}

const recordStatuses: StatusMeanings = { ok: 'done', needsBuild: 'no usable record: build' };

const outputHelp = 'the built site, if moved after the build; for inline, where to write, if not in place';
const everyHelp = 'how often to check, varied by 10% (default: 30s; with --listen, 5m)';
const listenHelp = 'also check when a signed call arrives, such as 127.0.0.1:8787';
const afterHelp = 'run once after pages were written, such as for a search index';
const listsHelp =
  'For the commands that it runs, ASTRO_SNIPPETS_CHANGED_FILES and ASTRO_SNIPPETS_CHANGED_URLS are paths of lists of what has changed.';

/**
 * Creates the program with all of its commands. The reference in the docs is made from it. A command is only
 * loaded when it runs: loading takes most of the time of a short command.
 */
export function createProgram(cli: Cli, argv: readonly string[] = []): Command {
  const program = createRoot(cli, argv)
    .option('--manifest <file>', "the record of the last build, if it is not in Astro's default cacheDir")
    .option('--output <folder>', outputHelp);

  const scriptsOption = new Option('--scripts <rule>', 'what to do with scripts in snippets');
  addCommand(program, 'inline', {
    statuses: { ok: 'every embed is inlined' },
    example: "_site --exclude 'docs/**'",
    page: 'any-generator.md',
    notes: ['Options are also read from snippets.config.js (.mjs, .cjs, .ts): its default export.'],
  })
    .description('inline snippets into what any generator has written')
    .argument('<folder>', 'the folder that the generator has written')
    .option('--render-base-url <url>', 'base URL for rendering')
    .option('--retrieve-base-url <url>', 'base URL for retrieving')
    .option('--concurrency <number>', 'requests made at the same time', Number)
    .option('--timeout <duration>', 'how long to fetch snippets')
    .option('--exclude <pattern...>', 'files whose embeds stay: glob patterns')
    .addOption(scriptsOption.choices(['allow', 'warn', 'strip', 'error']))
    .option('--strict', 'fail on HTML that would swallow or format the rest of a page')
    .option('--stale-if-error <duration>', 'how long the last good content may replace a snippet')
    .option('--offline', 'use only the cache')
    .action(async (folder, flags, command) =>
      (await import('./commands/inline.ts')).inline(cli, folder, flags, command),
    );

  addCommand(program, 'list', {
    statuses: recordStatuses,
    example: '--json',
    page: 'command-line.md#command-line',
  })
    .description('list snippets and their pages; works offline')
    .option('--json', 'print JSON')
    .action(async () => (await import('./commands/list.ts')).list(cli));

  addCommand(program, 'check', {
    statuses: { ...recordStatuses, ok: 'nothing changed', changed: 'something changed' },
    example: "--exec 'npm run build && npm run deploy'",
    page: 'publishing.md#check-and-run-a-command',
    notes: [`With --exec, the exit status of the command replaces 10 and 3.`, listsHelp],
  })
    .description('say which snippets have changed since the build')
    .option('--json', 'print JSON')
    .option('--exec <command>', 'run when something changed or there is no usable record', parseCommand)
    .action(async (options) => (await import('./commands/check.ts')).check(cli, options));

  addWritingCommand(program, 'refresh', {
    statuses: { ok: 'up to date now', needsBuild: 'a build is needed, and why' },
    example: '--dry-run',
    page: 'publishing.md#refresh',
  })
    .description('write changed snippets into pages, without a build')
    .option('--dry-run', 'show what would change without writing')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./commands/refresh.ts')).refresh(cli, options));

  addWritingCommand(program, 'watch', {
    statuses: { needsBuild: 'no usable record: build, or pass --build' },
    example: "--every 1m --build 'npm run build' --exec 'npm run deploy'",
    page: 'publishing.md#watch',
  })
    .description('check and refresh regularly, and run a command after changes')
    .option('--every <duration>', everyHelp, parseInterval)
    .option('--listen <host:port>', listenHelp, parseListen)
    .option('--build <command>', 'build command, run if a refresh is not enough', parseCommand)
    .option('--exec <command>', 'deploy command, run once for each set of changes', parseCommand)
    .option('--json', 'print events as JSON, one a line')
    .action(async (options) => (await import('./commands/watch.ts')).watch(cli, options));

  addCommand(program, 'report', { statuses: recordStatuses, example: '--to snippets.html' })
    .description('write an HTML page about the snippets of the site; works offline')
    .option('--to <file>', 'the file to write', 'snippets-report.html')
    .addOption(new Option('--json', 'print what the page is made from as JSON instead').conflicts('to'))
    .action(async ({ to }) => (await import('./commands/report.ts')).report(cli, to));

  addCommand(program, 'doctor', {
    statuses: { ok: 'ready to build', failed: 'not ready' },
    example: '42',
  })
    .description('check the setup: environment, URLs, certificate, key')
    .argument('[id]', 'a snippet to fetch; by default one of the last build')
    .option('--json', 'print JSON')
    .action(async (id) => (await import('./commands/doctor.ts')).doctor(cli, id));

  addCommand(program, 'get', { statuses: { ok: 'done' }, example: `42 --params '{"plan":"pro"}'` })
    .description('get one snippet as a build would')
    .argument('<id>', "the snippet's id")
    .option('--params <json>', 'variables for the snippet: one JSON object')
    .action(async (id, { params }) => (await import('./commands/get.ts')).get(cli, id, params));

  return addProgramHelp(program);
}

/** Creates the program without commands. A hook copies global options into `cli` before a command runs. */
function createRoot(cli: Cli, argv: readonly string[]): Command {
  const { stdout, stderr, terminal } = cli;
  return (
    new Command('astro-snippets')
      .description(
        'Lists the snippets of a built site, checks which have changed, and updates the site. Inlines snippets into the output of any generator.',
      )
      .version(packageVersion)
      .configureHelp(helpLayout)
      .showHelpAfterError()
      // Commander would exit with status 1 for wrong usage, which means that a command failed: let it throw.
      .exitOverride()
      .configureOutput({
        writeOut: (text) => stdout.write(text),
        writeErr: (text) => stderr.write(text),
        getOutHelpWidth: () => (stdout.isTTY ? stdout.columns : undefined) as number,
        getErrHelpWidth: () => (stderr.isTTY ? stderr.columns : undefined) as number,
      })
      .hook('preSubcommand', (program, command) => {
        // Looked for before options are parsed, so that an error about these is printed as JSON, too.
        const printsJson = argv.includes('--json') && command.options.some(({ long }) => long === '--json');
        terminal.json = printsJson ? command.name() : undefined;
        Object.assign(cli, program.opts());
      })
  );
}

const addCommand = (program: Command, name: string, help: CommandHelp): Command =>
  addHelp(program.command(name), help);

/** Adds a command that writes to the output. */
function addWritingCommand(program: Command, name: string, help: CommandHelp): Command {
  return addCommand(program, name, { ...help, notes: [listsHelp] })
    .option('--skip-modified', 'skip pages that were changed after the build')
    .option('--after <command>', afterHelp, parseCommand);
}

/** Parses the time between two checks. @returns milliseconds */
function parseInterval(text: string): number {
  const milliseconds = parseDuration(text) ?? 0;
  if (milliseconds >= 1_000) return milliseconds;
  throw new InvalidArgumentError('Expected a duration of at least 1s, such as 30s or 5m.');
}

/**
 * Parses a host and a port. Refuses a host that a URL would write in another way: `127.1` is an IP address in
 * a URL, and would be looked up as a name here.
 */
function parseListen(text: string): ListenAddress {
  const [, host = '', port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const { hostname } = URL.parse(`http://${text}`) ?? {};
  if (hostname === host.toLowerCase()) return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  throw new InvalidArgumentError('Expected a host and a port, such as 127.0.0.1:8787 or [::1]:8787.');
}

/** Rejects an empty command, which would succeed. A shell passes one if `"$VARIABLE"` is not set. */
function parseCommand(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Expected a command.');
  return text;
}
