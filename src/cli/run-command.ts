import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { writeAtomically } from '../files/write.ts';
import { commandLockFile, holderOf, type WaitOptions, waitForLock } from '../record/output-lock.ts';
import type { ShownFile } from './cli-output.ts';
import { shownFile } from './list.ts';
import { manifestPath, readRecord } from './project.ts';
import type { CliContext } from './terminal.ts';

/** `undefined` if that is not known: it may be any file of the output. */
type ChangedFiles = readonly ShownFile[] | undefined;

/**
 * What `--exec` has last deployed, in a file beside the record. What differs from the record is due: a command that fails,
 * or is killed, leaves the difference, so that it runs again.
 */
interface Deployed {
  /** That of the record; absent if any file may have changed since. */
  builtAt?: string | undefined;
  /** The hashes of files that show snippets, by their names; empty for one that is going to be written. */
  files: Record<string, string>;
  /** Whether a command has begun since, and has not succeeded. */
  hasBegun?: true;
}

function deployedFile(record: string): string {
  return join(dirname(record), basename(record).replace(/^(?:manifest)?\.?/, 'deployed.'));
}

/** `undefined` if no command of `--exec` has deployed this record. A damaged file says that nothing was deployed. */
export function readDeployed(record: string): Promise<Deployed | undefined> {
  return readFile(deployedFile(record), 'utf8')
    .then((text) => JSON.parse(text))
    .catch(({ code }) => (code === 'ENOENT' ? undefined : { files: {} }));
}

function writeDeployed(record: string, deployed: Deployed): void {
  writeAtomically(deployedFile(record), JSON.stringify(deployed));
}

/** Compares what was deployed, or where nothing says so what is on record, with what is on record now. */
async function compare(context: CliContext) {
  const { file, manifest } = await readRecord(context);
  const hashes = Object.fromEntries(manifest?.files.map(({ name, hash }) => [name, hash]) ?? []);
  const now: Deployed = { builtAt: manifest?.builtAt, files: hashes };
  const deployed = (await readDeployed(file)) ?? now;
  const names = Object.keys({ ...deployed.files, ...hashes });
  const differing = names.filter((name) => deployed.files[name] !== hashes[name]);
  const isSameBuild = manifest?.builtAt === deployed.builtAt;
  /** With files that are gone. After a build it may be any file. */
  const changed: ChangedFiles =
    isSameBuild && manifest ? differing.map((name) => shownFile(manifest, name)) : undefined;
  return { file, manifest, now, deployed, changed };
}

/** Whether something is to be deployed. Nothing is while what was made from the pages is out of date. */
export async function isDue(context: CliContext): Promise<boolean> {
  const { manifest, deployed, changed } = await compare(context);
  if (manifest === undefined || manifest.pending) return false;
  return deployed.hasBegun === true || changed?.length !== 0;
}

/** Has files deployed, in addition to what is due, even if this process ends before. */
export async function addDue(context: CliContext, changed: ChangedFiles): Promise<void> {
  const { file, deployed } = await compare(context);
  const files = Object.fromEntries(changed?.map((one) => [one.file, '']) ?? []);
  const builtAt = changed && deployed.builtAt;
  writeDeployed(file, { ...deployed, builtAt, files: { ...deployed.files, ...files } });
}

/** Runs a command that deploys what is due. What is written meanwhile is due after it, unless the command is a build. */
export async function deploy(context: CliContext, command: string): Promise<number> {
  const { file, deployed, now: before, changed } = await compare(context);
  const begun: Deployed = { ...deployed, hasBegun: true };
  writeDeployed(file, begun);
  const status = await runWithLists(context, command, changed);
  // A build may have emptied the folder of the record, or left a record elsewhere.
  const { file: fileNow, now } = await compare(context);
  if (fileNow !== file) await rm(deployedFile(file), { force: true });
  if (status !== 0) writeDeployed(fileNow, begun);
  // What has no record cannot be compared with what comes after it.
  else if (now.builtAt === undefined) await rm(deployedFile(fileNow), { force: true });
  else writeDeployed(fileNow, now.builtAt === before.builtAt ? before : now);
  return status;
}

const lists = { ASTRO_SNIPPETS_CHANGED_FILES: 'file', ASTRO_SNIPPETS_CHANGED_URLS: 'url' } as const;

/**
 * Runs a shell command with variables that name two lists: the changed files and their URLs. If these are not known, the
 * variables are not set, even if this process has inherited them from such a command.
 *
 * @returns its exit status, as a shell would report it: 128 + n after a signal, 127 if it could not be started.
 */
export async function runWithLists(context: CliContext, command: string, changed: ChangedFiles) {
  // A name with a line break would be taken for two.
  const listed = changed?.every(({ file }) => !/[\r\n]/.test(file)) ? changed : undefined;
  const folder = listed && (await mkdtemp(join(tmpdir(), 'astro-snippets-')));
  const env = { ...context.env };
  try {
    for (const [variable, kind] of Object.entries(lists)) {
      const list = folder && join(folder, `${kind}s.txt`);
      env[variable] = list;
      if (list) await writeFile(list, listed.map((one) => `${one[kind]}\n`).join(''));
    }
    return await runCommand({ ...context, env }, command);
  } finally {
    if (folder) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a shell command where the command line runs, and waits for it, as `npm run` does: Ctrl-C reaches the command by
 * itself, and SIGTERM is passed on. Messages leave the command out, since a shell may have expanded the key in it.
 */
async function runCommand(context: CliContext, command: string): Promise<number> {
  const { cwd, env, stdin = 'ignore', stdout, stderr, signals, terminal } = context;
  terminal.clearStatus();
  const results = terminal.json ? stderr : stdout;
  let shell: ChildProcess | undefined;
  // Without a handler, Ctrl-C would end this process before the command, and its status would be lost.
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

// The tokens of the locks that the processes above this one hold, which wait for this one.
const heldLocks = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Runs work that may run a command, while no other process does so for the same output: one of two at once would empty the
 * folder that the other one deploys. With the context that the work gets, the command may itself run such commands.
 */
export async function whileAlone<T>(context: CliContext, work: (inner: CliContext) => Promise<T>) {
  if (isInside(context)) return work(context);
  const lock = await waitForLock(commandLockFile(manifestPath(context)), 'command', waiting(context));
  const env = { ...context.env, [heldLocks]: `${context.env[heldLocks] ?? ''} ${lock.token}` };
  return work({ ...context, env }).finally(() => lock.release());
}

/** Whether the command of another process runs this one, and waits for it. */
export function isInside(context: CliContext): boolean {
  const token = holderOf(commandLockFile(manifestPath(context)))?.token;
  return Boolean(token && context.env[heldLocks]?.includes(token));
}

/** How a command waits for a lock: it says for whom. */
export function waiting({ terminal, clock, signal }: CliContext): WaitOptions {
  return { log: (line) => terminal.printError(line), clock, signal };
}
