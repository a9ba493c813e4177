import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeAtomically } from '../files/files.ts';
import { commandLockFile, holderOf, waitForLock } from '../record/record-files.ts';
import type { ShownFile } from './cli-output.ts';
import { manifestPath, readRecord, shownFile } from './project.ts';
import type { Cli } from './terminal.ts';

/** `undefined` if it may be any file. */
type ChangedFiles = readonly ShownFile[] | undefined;

/** What `--exec` has deployed, in a file beside the record. What differs from the record is due. */
interface Deployed {
  /** Of the record; absent if any file may have changed since. */
  builtAt?: string | undefined;
  /** The hashes of files that show snippets; empty for one that is going to be written. */
  files: Record<string, string>;
  /** Whether a command has begun since, and has not succeeded. */
  hasBegun?: true;
}

const deployedFile = (record: string) => record.replace(/(?:manifest)?\.?([^/\\]*)$/, 'deployed.$1');

/** `undefined` if `--exec` was never used. A damaged file means that nothing was deployed. */
export function readDeployed(record: string): Promise<Deployed | undefined> {
  return readFile(deployedFile(record), 'utf8')
    .then((text) => JSON.parse(text))
    .catch(({ code }) => (code === 'ENOENT' ? undefined : { files: {} }));
}

const writeDeployed = (record: string, deployed: Deployed) =>
  writeAtomically(deployedFile(record), JSON.stringify(deployed));

/** Compares what was deployed with the record. Without a file that says it, nothing differs. */
async function compare(cli: Cli) {
  const { file, manifest } = await readRecord(cli);
  const { builtAt, files = [] } = { ...manifest };
  const now: Deployed = { builtAt, files: Object.fromEntries(files.map(({ name, hash }) => [name, hash])) };
  const deployed = (await readDeployed(file)) ?? now;
  const names = Object.keys({ ...deployed.files, ...now.files });
  const differing = names.filter((name) => deployed.files[name] !== now.files[name]);
  const isSameBuild = builtAt === deployed.builtAt;
  /** With files that are gone. After a build, it may be any. */
  const changed = manifest && isSameBuild ? differing.map((name) => shownFile(manifest, name)) : undefined;
  return { file, manifest, now, deployed, changed };
}

/** Nothing is due while what was made from the pages is out of date. */
export async function isDue(cli: Cli) {
  const { manifest, deployed, changed } = await compare(cli);
  if (!manifest || manifest.pending) return false;
  return deployed.hasBegun === true || changed?.length !== 0;
}

/** Has more files deployed than are due, even if this process ends before. */
export async function addDue(cli: Cli, changed: ChangedFiles) {
  const { file, deployed } = await compare(cli);
  const files = Object.fromEntries(changed?.map((one) => [one.file, '']) ?? []);
  const builtAt = changed && deployed.builtAt;
  writeDeployed(file, { ...deployed, builtAt, files: { ...deployed.files, ...files } });
}

/** What is written meanwhile is due after it, unless the command is a build. */
export async function deploy(cli: Cli, command: string) {
  const { file, deployed, now: before, changed } = await compare(cli);
  const begun: Deployed = { ...deployed, hasBegun: true };
  writeDeployed(file, begun);
  const status = await runWithLists(cli, command, changed);
  // A build may have left a record elsewhere.
  const { file: fileNow, now } = await compare(cli);
  if (fileNow !== file) await rm(deployedFile(file), { force: true });
  if (status !== 0) writeDeployed(fileNow, begun);
  // Without a record, there is nothing to compare with.
  else if (!now.builtAt) await rm(deployedFile(fileNow), { force: true });
  else writeDeployed(fileNow, now.builtAt === before.builtAt ? before : now);
  return status;
}

const lists = { ASTRO_SNIPPETS_CHANGED_FILES: 'file', ASTRO_SNIPPETS_CHANGED_URLS: 'url' } as const;

/**
 * Runs a shell command with variables that name lists of the changed files and their URLs. Without lists, they are unset.
 *
 * @returns the exit status, as from a shell: 128 + n after a signal, 127 if it could not be started.
 */
export async function runWithLists(cli: Cli, command: string, changed: ChangedFiles) {
  // A name with a line break would be taken for two.
  const listed = changed?.every(({ file }) => !/[\r\n]/.test(file)) ? changed : undefined;
  const folder = listed && (await mkdtemp(join(tmpdir(), 'astro-snippets-')));
  const env = { ...cli.env };
  try {
    for (const [variable, kind] of Object.entries(lists)) {
      const list = folder && join(folder, `${kind}s.txt`);
      env[variable] = list;
      if (list) await writeFile(list, listed.map((one) => `${one[kind]}\n`).join(''));
    }
    return await runCommand({ ...cli, env }, command);
  } finally {
    if (folder) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Waits as `npm run` does: Ctrl-C reaches the command by itself, and SIGTERM is passed on. Messages leave the command out,
 * since a shell may have expanded the key in it.
 */
async function runCommand(cli: Cli, command: string) {
  const { cwd, env, stdin = 'ignore', stdout, stderr, signals, terminal } = cli;
  terminal.clearStatus();
  const results = terminal.json ? stderr : stdout;
  let shell: ChildProcess | undefined;
  // Else Ctrl-C would end this process before the command.
  const ignore = () => {};
  const passOn = () => shell?.kill('SIGTERM');
  signals?.on('SIGINT', ignore);
  signals?.on('SIGTERM', passOn);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  try {
    const stdio: StdioOptions = [stdin, results.fd ?? 'pipe', stderr.fd ?? 'pipe'];
    shell = spawn(command, { shell: true, stdio, cwd, env });
    shell.stdout?.on('data', (text: Buffer) => results.write(text));
    shell.stderr?.on('data', (text: Buffer) => stderr.write(text));
    // Also emitted when a signal could not be sent.
    shell.on('error', (error) => shell?.pid === undefined && reject(error));
    shell.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    return await promise;
  } catch (error) {
    terminal.printError(`The shell could not be started: ${(error as NodeJS.ErrnoException).code}`);
    return 127;
  } finally {
    signals?.off('SIGINT', ignore);
    signals?.off('SIGTERM', passOn);
  }
}

// The tokens of the locks of processes that wait for this one.
const heldLocks = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Runs work while no other process runs a command for the same output: one could empty what the other deploys. With the
 * cli that it gets, a command may itself run such commands.
 */
export async function whileAlone<T>(cli: Cli, work: (inner: Cli) => Promise<T>) {
  if (isInside(cli)) return work(cli);
  const lock = await waitForLock(commandLockFile(manifestPath(cli)), 'command', waiting(cli));
  const env = { ...cli.env, [heldLocks]: `${cli.env[heldLocks] ?? ''} ${lock.token}` };
  return work({ ...cli, env }).finally(() => lock.release());
}

/** Whether the process that holds the lock runs this one. */
export function isInside(cli: Cli) {
  const token = holderOf(commandLockFile(manifestPath(cli)))?.token;
  return Boolean(token && cli.env[heldLocks]?.includes(token));
}

export function waiting({ terminal, clock, signal }: Cli) {
  return { log: terminal.printError, clock, signal };
}
