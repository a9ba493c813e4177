import { Command, InvalidArgumentError, Option } from 'commander';
import { packageVersion } from '../settings/package-version.ts';
import { parseDuration } from '../text/format.ts';
import type { Cli } from './terminal/cli.ts';
import type { CliHost } from './terminal/cli-host.ts';
import { exitCodes } from './terminal/exit-codes.ts';
import { Terminal } from './terminal/terminal.ts';

const outputHelp = 'the built site, if moved after the build; for inline, where to write, if not in place';
const everyHelp = 'how often to check, varied by 10% (default: 30s; with --listen, 5m)';
const listenHelp = 'also check when a signed call arrives, such as 127.0.0.1:8787';
const afterHelp = 'run once after pages were written, such as for a search index';
const listsHelp =
  'For these commands, ASTRO_SNIPPETS_CHANGED_FILES and ASTRO_SNIPPETS_CHANGED_URLS are paths of lists of what has changed.';

type Meanings = Partial<Record<keyof typeof exitCodes, string>>;

const offline: Meanings = { ok: 'done', needsBuild: 'no usable record: build' };

export async function runCli(argv: readonly string[], host: CliHost): Promise<number> {
  const terminal = new Terminal(host);
  const program = createProgram({ ...host, terminal }, argv);
  await program.parseAsync(argv, { from: 'user' }).catch((thrown) => terminal.showFailure(thrown));
  return terminal.exitStatus;
}

// A command is loaded when it runs: that takes most of the time of a short one.
/** The reference in the docs is made from it. */
export function createProgram(cli: Cli, argv: readonly string[] = []): Command {
  const { stdout, stderr, terminal } = cli;
  const program = new Command('astro-snippets')
    .description(
      'Lists the snippets of a built site, checks which have changed, and updates the site. Inlines snippets into the output of any generator.',
    )
    .version(packageVersion)
    .option('--manifest <file>', "the record of the last build, if it is not in Astro's default cacheDir")
    .option('--output <folder>', outputHelp)
    .showHelpAfterError()
    // Commander would exit with 1: a command failed.
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
      Object.assign(cli, program.opts());
    });
  const addCommand = (name: string, own: Meanings) => {
    const meanings: Record<string, string> = { failed: 'failed', usage: 'wrong usage', ...own };
    let text = '\nExit status:';
    for (const [status, code] of Object.entries(exitCodes)) {
      if (meanings[status]) text += `\n  ${String(code).padEnd(3)} ${meanings[status]}`;
    }
    return program.command(name).addHelpText('after', text);
  };
  const addWritingCommand = (name: string, own: Meanings) =>
    addCommand(name, own)
      .option('--skip-modified', 'skip pages that were changed after the build')
      .option('--after <command>', afterHelp, parseCommand)
      .addHelpText('after', listsHelp);

  const scripts = new Option('--scripts <rule>', 'what to do with scripts in snippets');
  addCommand('inline', { ok: 'every embed is inlined' })
    .description('inline snippets into what any generator has written')
    .argument('<folder>', 'the folder that the generator has written')
    .option('--render-base-url <url>', 'base URL for rendering')
    .option('--retrieve-base-url <url>', 'base URL for retrieving')
    .option('--concurrency <number>', 'requests made at the same time', Number)
    .option('--timeout <duration>', 'how long to fetch snippets')
    .option('--exclude <pattern...>', 'files whose embeds stay: glob patterns')
    .addOption(scripts.choices(['allow', 'strip', 'error']))
    .option('--strict', 'fail on HTML that would swallow the rest of a page')
    .option('--stale-if-error <duration>', 'how long the last good content may replace a snippet')
    .option('--offline', 'use only the cache')
    .addHelpText('after', 'Options are also read from snippets.config.js (.mjs, .ts), its default export.')
    .action(async (folder, flags, self) =>
      (await import('./commands/inline.ts')).inline(cli, folder, flags, self),
    );

  addCommand('list', offline)
    .description('list snippets and their pages; works offline')
    .option('--json', 'print JSON')
    .action(async () => (await import('./commands/list.ts')).list(cli));

  addCommand('check', { ...offline, ok: 'nothing changed', changed: 'something changed' })
    .description('say which snippets have changed since the build')
    .option('--json', 'print JSON')
    .option('--exec <command>', 'run when something changed or there is no usable record', parseCommand)
    .addHelpText('after', 'With --exec, the exit status of the command replaces 10 and 3.')
    .addHelpText('after', listsHelp)
    .action(async (options) => (await import('./commands/check.ts')).check(cli, options));

  addWritingCommand('refresh', { ok: 'up to date now', needsBuild: 'a build is needed, and why' })
    .description('write changed snippets into pages, without a build')
    .option('--dry-run', 'show what would change without writing')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./commands/refresh.ts')).refresh(cli, options));

  addWritingCommand('watch', { needsBuild: 'no usable record: build, or pass --build' })
    .description('check and refresh regularly, and run a command after changes')
    .option('--every <duration>', everyHelp, parseInterval)
    .option('--listen <host:port>', listenHelp, parseListen)
    .option('--build <command>', 'build command, run if a refresh is not enough', parseCommand)
    .option('--exec <command>', 'deploy command, run once for each set of changes', parseCommand)
    .option('--json', 'print events as JSON, one a line')
    .action(async (options) => (await import('./commands/watch.ts')).watch(cli, options));

  addCommand('report', offline)
    .description('write an HTML page about the snippets of the site; works offline')
    .option('--to <file>', 'the file to write', 'snippets-report.html')
    .addOption(new Option('--json', 'print what the page is made from as JSON instead').conflicts('to'))
    .action(async ({ to }) => (await import('./commands/report.ts')).report(cli, to));

  addCommand('doctor', { ok: 'ready to build', failed: 'not ready' })
    .description('check the setup: environment, URLs, certificate, key')
    .argument('[id]', 'a snippet to fetch; by default one of the last build')
    .option('--json', 'print JSON')
    .action(async (id) => (await import('./commands/doctor.ts')).doctor(cli, id));

  addCommand('get', { ok: 'done' })
    .description('get one snippet as a build would')
    .argument('<id>', "the snippet's id")
    .option('--params <json>', 'variables for the snippet: one JSON object')
    .action(async (id, { params }) => (await import('./commands/get.ts')).get(cli, id, params));
  return program;
}

function parseInterval(text: string) {
  const milliseconds = parseDuration(text) ?? 0;
  if (milliseconds >= 1_000) return milliseconds;
  throw new InvalidArgumentError('Expected a duration of at least 1s, such as 30s or 5m.');
}

/** With the host written out: `127.1` would be looked up as a name. */
function parseListen(text: string) {
  const [, name = '', port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const { hostname } = URL.parse(`http://${text}`) ?? {};
  if (hostname === name.toLowerCase()) return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  throw new InvalidArgumentError('Expected a host and a port, such as 127.0.0.1:8787 or [::1]:8787.');
}

/** With a variable that is not set, it would be empty and succeed. */
function parseCommand(text: string) {
  if (text.trim() === '') throw new InvalidArgumentError('Expected a command.');
  return text;
}
