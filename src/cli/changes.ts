import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { escapeText } from 'entities/escape';
import { compareOutput, describeChanged } from '../build/output-state.ts';
import type { RefreshPlan } from '../build/refresh.ts';
import { parseRequest } from '../client/snippet-request.ts';
import {
  cleanLines,
  cleanText,
  containsKnownKey,
  count,
  formatBytes,
  formatDuration,
} from '../client/text.ts';
import { shownWarnings, userError } from '../failures/errors.ts';
import { writeAtomically } from '../files/files.ts';
import type { RecordedImages } from '../images/site-images.ts';
import {
  displayedHash,
  findUsage,
  hashOf,
  toRecordedContent,
  usesFromManifest,
  writeManifest,
} from '../record/manifest.ts';
import {
  commandLockFile,
  holderOf,
  lockFile,
  possibleLockFiles,
  waitForLock,
  waitUntilFree,
} from '../record/record-files.ts';
import { cacheFolders, type Settings } from '../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { CheckOutput, NotWritten, RefreshOutput, ShownFile } from './cli-output.ts';
import {
  describeSnippet,
  manifestPath,
  notWrittenLines,
  openProject,
  readRecord,
  readSettings,
  shownFile,
  shownSnippet,
  snippetLines,
} from './project.ts';
import { type Cli, exitCodes, type Result, toFailureResult } from './terminal.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
  after?: string;
  /** How long to try a service that gives no answer, in milliseconds. @default the build's */
  patience?: number;
}

/** In milliseconds: to fail soon is better than to wait for a service. */
export const checkPatience = 12_000;

type OpenedChanges = Awaited<ReturnType<typeof openChanges>>;

/** Fetches all snippets, and finds what has changed. @throws AstroError if one could not be fetched. */
async function openChanges(cli: Cli, { patience, dryRun }: RefreshOptions, isRefresh: boolean) {
  const { cwd, terminal, signal } = cli;
  const progress = terminal.openProgress();
  const { file, manifest } = await openProject(cli, isRefresh);
  const { rules, snippets } = manifest;
  // Only a build has the sanitizer, which may change what images there are.
  const images = isRefresh && !rules.sanitizes ? rules.images : undefined;
  const assets = images && join(manifest.output, images.assets.folder);
  // Without these folders, the build keeps nothing there.
  const { imageFolder, answerFolder } = cacheFolders(dirname(file));
  const ifKept = (folder = '') => (existsSync(folder) ? folder : undefined);
  const settings = {
    ...(await readSettings(cli, manifest)),
    images,
    imageFolder: ifKept(imageFolder),
    // So that no later build shows older content.
    answerFolder: isRefresh && !dryRun ? ifKept(answerFolder) : undefined,
  };
  // Those of the last build whose files are there.
  const recordedImages: RecordedImages = new Map();
  for (const { url, copy } of snippets.flatMap(({ content }) => content?.images ?? [])) {
    if (!copy) recordedImages.set(url, { flaw: 'it could not be downloaded before' });
    else if (assets && existsSync(join(assets, copy.file))) recordedImages.set(url, { copy });
  }
  const shown = new Set(snippets.map(({ key, content }) => `${content?.hash} ${key}`));
  const fetcher = openFetcher(cli, settings, {
    patience,
    recordedImages,
    // A watch would write all others each time.
    isWorthKeeping: ({ key }, content) => !shown.has(`${hashOf(content)} ${key}`),
  });
  const uses = usesFromManifest(manifest);
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')} fetched`);
  try {
    const fetched = await fetcher.fetch(uses, { signal, onSettled });
    /** As in the manifest; `undefined` for optional snippets that do not exist. */
    const now = snippets.map(({ key }) => {
      const snippet = fetched.get(key);
      return snippet && toRecordedContent(snippet);
    });
    const changed = findUsage(manifest, now);
    const keys = new Set(changed.map(({ recorded }) => recorded.key));
    const changedUses = uses.filter(({ request }) => keys.has(request.key));
    const warnings = shownWarnings(fetched, changedUses);
    const readImage = (name: string) => fetcher.readImage(name);
    return { cwd, file, manifest, progress, fetched, now, changed, warnings, readImage };
  } finally {
    await fetcher.close();
  }
}

const refreshPending = { name: 'The command of the last refresh --after', reason: 'has not succeeded yet' };
const deployPending = {
  name: 'The last --exec command',
  reason: 'has not succeeded, so the site is still to be deployed',
};

/** With `exec`, runs that command if something has changed, and with each check until it succeeds. */
export async function check(cli: Cli, { exec }: { exec?: string }) {
  const { terminal } = cli;
  // Inside the command of --exec, that this command has not ended is no reason to fail.
  if (!exec) return void (await showChanges(cli, isInsideCommand(cli)));
  await withCommandLock(cli, async (inner) => {
    const found = await showChanges(inner, false).catch((thrown: unknown) => {
      if (toFailureResult(thrown).exitStatus !== exitCodes.needsBuild) throw thrown;
      terminal.showFailure(thrown);
    });
    if (found?.exitStatus === exitCodes.ok) return;
    const { changed = [], unfinished = [] } = found ?? {};
    const others = unfinished.filter((one) => one !== deployPending);
    if (others.length < unfinished.length) {
      terminal.printError('The last --exec command failed. Running it again.');
    }
    // It is not known which pages use an entry of a collection, or what else is unfinished.
    const isKnown = found && others.length === 0 && changed.every(({ collections }) => !collections[0]);
    await markForDeploy(inner, isKnown ? changed.flatMap(({ pages }) => pages) : undefined);
    const status = await deploy(inner, exec);
    terminal.exitStatus = status;
    const { file, manifest } = await readRecord(inner);
    const failure = `The command of --exec exited with status ${status}. The next check with --exec runs it again.`;
    const missing = `There is still no record of a build at ${file}, so the next check with --exec runs the command again.`;
    if (status !== 0) terminal.printError(failure);
    else if (!found && !manifest) terminal.printError(missing);
  });
}

/** @param isInCommand whether the command of `--exec` runs this. */
async function showChanges(cli: Cli, isInCommand: boolean) {
  const { output, terminal } = cli;
  const options = { patience: checkPatience };
  const { file, manifest, changed } = await openChanges(cli, options, false).catch((thrown: Error) => {
    appendStepSummary(cli, thrown.message);
    throw thrown;
  });
  const nothing = { toBuild: [], changed: [] };
  const { toBuild, changed: modified } = output === undefined ? nothing : await compareOutput(manifest);
  if (modified.length > 0) terminal.printError(describeChanged(modified));
  const interrupted = manifest.files.filter(({ expectedHashes }) => expectedHashes);
  const unfinished = [
    ...interrupted.map(({ name }) => ({ name, reason: 'was being written when a refresh was interrupted' })),
    ...(manifest.pending ? [refreshPending] : []),
    ...(!isInCommand && (await readDeployed(file))?.hasBegun ? [deployPending] : []),
    ...toBuild,
  ];
  const isSame = changed.length + unfinished.length === 0;
  const document: Result<CheckOutput> = {
    exitStatus: toBuild.length > 0 ? exitCodes.needsBuild : isSame ? exitCodes.ok : exitCodes.changed,
    compared: manifest.snippets.length,
    changed: changed.map((one) => {
      const { newHash } = one;
      return shownSnippet(manifest, one, { missing: newHash ? undefined : true, newHash });
    }),
    unfinished,
  };
  const text = checkText(document);
  appendStepSummary(cli, text);
  terminal.show(document, () => text);
  return document;
}

export function checkText({ compared, changed, unfinished }: Result<CheckOutput>) {
  const lines = snippetLines(changed, ' no longer exists, and is optional', ' has changed');
  lines.push(...notWrittenLines(unfinished));
  if (lines.length > 0) return lines.join('\n');
  if (compared === 0) return 'The site shows no snippets.';
  return `Nothing has changed: ${count(compared, 'snippet')} ${compared === 1 ? 'matches' : 'match'} the last build.`;
}

// GitHub refuses more than 1 MiB. A character takes at most six bytes.
const maxSummary = 100_000;

/** Adds to the summary of GitHub Actions. A check does not fail if that fails. */
export function appendStepSummary({ cwd, env, terminal }: Cli, text: string) {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const more = text.length > maxSummary ? '\n… The rest is in the log of this step.' : '';
  // In <pre>, nothing is Markdown. Names come from outside.
  const shown = escapeText(cleanLines(text.slice(0, maxSummary) + more));
  try {
    appendFileSync(resolve(cwd, file), `### Snippets\n\n<pre>${shown}</pre>\n\n`);
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}

export async function refresh(cli: Cli, options: RefreshOptions) {
  const { document } = await refreshSite(cli, options);
  const { dryRun, written, notWritten, diffs = [], after, nextStep = '' } = document;
  if (after?.exitStatus) cli.terminal.printError(nextStep);
  cli.terminal.show(document, () => {
    const lines = [
      ...diffs.flatMap(({ patch, pages, ...request }) => [
        `${describeSnippet(request)}, on ${count(pages.length, 'page')}`,
        patch.trimEnd().replace(/^/gm, '    '),
      ]),
      ...written.map(({ file }) => (dryRun ? `${file} would be written` : `Updated ${file}`)),
      ...notWrittenLines(notWritten),
      after?.exitStatus ? '' : nextStep,
    ];
    return lines.filter(Boolean).join('\n') || (after ? '' : 'Nothing has changed.');
  });
}

/** @returns the document, and a text that changes with each snippet. */
export async function refreshSite(cli: Cli, options: RefreshOptions) {
  // During a build, which has no record, another one would be found.
  const pinned = { ...cli, manifest: manifestPath(cli) };
  for (const lock of possibleLockFiles(pinned.manifest)) await waitUntilFree(lock, waitOptions(cli));
  // From before the plan: it must not have what another command is renewing.
  const isAlone = options.after && !options.dryRun;
  return isAlone
    ? withCommandLock(pinned, (inner) => planAndWrite(inner, options))
    : planAndWrite(pinned, options);
}

type Refreshed = { document: Result<RefreshOutput>; published: string };

async function planAndWrite(cli: Cli, options: RefreshOptions): Promise<Refreshed> {
  const { after, dryRun } = options;
  const file = manifestPath(cli);
  const readText = () => readFile(file, 'utf8').catch(() => '');
  const before = await readText();
  const changes = await openChanges(cli, options, true);
  const { manifest, now } = changes;
  const outputLock = lockFile(file, manifest.outDir);
  const locked = async <T>(work: () => Promise<T>) => {
    const lock = dryRun ? undefined : await waitForLock(outputLock, 'refresh', waitOptions(cli));
    return work().finally(() => lock?.release());
  };
  // Another process may have written since, and needs another plan.
  const written = await locked(async () =>
    before === (await readText()) ? writeChanges(cli, changes, options) : undefined,
  );
  if (!written) return planAndWrite(cli, options);
  const { document, runsCommand } = written;
  if (after && runsCommand) {
    // Without the lock, as it may be a build. Nothing says what an earlier command was about.
    const exitStatus = await runWithLists(cli, after, manifest.pending ? undefined : document.written);
    document.after = { exitStatus };
    if (exitStatus === 0) {
      await locked(async () => {
        const { manifest: last } = await readRecord(cli);
        if (last?.pending) writeManifest(file, { ...last, pending: undefined });
      });
    } else {
      document.exitStatus = exitCodes.failed;
      document.nextStep = `The pages are written, but the command of --after exited with status ${exitStatus}, so what was made from them may be out of date. Fix the command and refresh with --after again: it is run even if nothing else has changed.`;
    }
  }
  return { document, published: now.map((content) => content?.hash).join() };
}

async function writeChanges(cli: Cli, changes: OpenedChanges, options: RefreshOptions) {
  const { file, manifest, now, warnings } = changes;
  const { dryRun = false, skipModified = false, after } = options;
  // A check does without it.
  const { planRefresh, writeRefresh } = await import('../build/refresh.ts');
  const plan = await planRefresh(changes);
  const { stale, toBuild, changed: modified } = plan;
  if (modified.length > 0) cli.terminal.printError(describeChanged(modified));
  // Out of date unless a command renews it.
  const outdated: NotWritten[] = stale.map(({ name, reason }) => ({ name, reason }));
  if (manifest.pending && outdated.length === 0) outdated.push(refreshPending);
  const refused = after ? [] : outdated;
  const isRefused = refused.length > 0 || (toBuild.length > 0 && !skipModified);
  const pages = isRefused ? [] : plan.pages;
  let leftAlone: NotWritten[] = [];
  if (pages.length > 0 && !dryRun) {
    // These are in no record.
    const renewed = stale.filter(({ isCopy }) => !isCopy).map(({ name }) => shownFile(manifest, name));
    if (await readDeployed(file)) await markForDeploy(cli, renewed);
    for (const warning of warnings) cli.terminal.printError(warning);
    leftAlone = await writeRefresh(changes, plan, after !== undefined);
  }
  const notWritten = [...toBuild, ...refused, ...leftAlone];
  const refusal = `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site${otherWay(plan, refused)}`;
  const advice = notWritten.length > 0 ? 'Build the site to update these pages too.' : undefined;
  const document: Result<RefreshOutput> = {
    exitStatus: notWritten.length > 0 ? exitCodes.needsBuild : exitCodes.ok,
    dryRun,
    written: pages
      .filter(({ page }) => !leftAlone.some(({ name }) => name === page.name))
      .map(({ page, changed }) => ({
        ...shownFile(manifest, page.name),
        snippets: changed.flatMap((index) => {
          const { id, params } = manifest.snippets[index] ?? {};
          const oldHash = displayedHash(manifest, page, index);
          return id === undefined ? [] : [{ id, params, oldHash, newHash: now[index]?.hash }];
        }),
      })),
    notWritten,
    diffs: dryRun ? await diffsOf(changes, plan) : undefined,
    nextStep: isRefused ? refusal : advice,
  };
  return { document, runsCommand: !dryRun && !isRefused && (pages.length > 0 || manifest.pending === true) };
}

function otherWay({ toBuild, stale }: RefreshPlan, refused: readonly NotWritten[]) {
  if (refused.length === 0) return ', or update the other pages with --skip-modified.';
  if (toBuild.length > 0) return '.';
  if (stale.length === 0) return ', or refresh with the same --after again.';
  const commands = stale.map(({ name, rebuild }) => rebuild ?? `<the command that writes ${name}>`);
  return `, or refresh with a command that renews what was made from its pages: --after '${commands.join(' && ')}'`;
}

async function diffsOf({ manifest, fetched, now }: OpenedChanges, { pages: planned }: RefreshPlan) {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff');
  const files = planned.map(({ page }) => page);
  const shown = findUsage({ ...manifest, files, collections: [] }, now);
  const linesOf = (text: string) => count(text.replace(/\n$/, '').split('\n').length, 'line');
  return shown.flatMap(({ recorded: { id, params, key, content }, pages }) => {
    const before = content?.text ?? '';
    const after = fetched.get(key)?.content ?? '';
    // What a page shows that the last refresh left out is not recorded.
    if (before === after) return [];
    // In lines. The time grows with the square.
    const limits = { context: 2, headerOptions, maxEditLength: 1_000 };
    const patch =
      createTwoFilesPatch('on the site', 'published', before, after, '', '', limits) ??
      `--- on the site\n+++ published\nToo different to compare line by line: ${linesOf(before)} before, ${linesOf(after)} after.\n`;
    const shownPages = pages.map((name) => shownFile(manifest, name));
    // Content need not end with a line break.
    return { id, params, pages: shownPages, patch: patch.replaceAll('\n\\ No newline at end of file', '') };
  });
}

/** Only the content goes to standard output, so that it can be piped. */
export async function get(cli: Cli, id: string, params?: string) {
  const { terminal, stdout } = cli;
  const request = parseRequest(id, params);
  const { manifest } = await readRecord(cli);
  const fetcher = openFetcher(cli, await readSettings(cli, manifest), { patience: 0 });
  try {
    const start = performance.now();
    const { html, content, variant, name, warnings } = await fetcher.get({ request, asHtml: true });
    if (containsKnownKey(html)) {
      throw userError('published-key', `The API key was found in snippet ${id}. Its content is not shown.`);
    }
    const time = formatDuration(performance.now() - start);
    const size = formatBytes(Buffer.byteLength(content));
    const requests = count(fetcher.answers.counts.requests, 'request');
    const facts = [name && cleanText(name), variant, time, size, requests].filter(Boolean).join(' · ');
    for (const line of [facts, ...warnings]) terminal.printError(line);
    if (stdout.isTTY) terminal.print(html);
    else stdout.write(html);
  } finally {
    await fetcher.close();
  }
}

/** Without warnings: commands print those that concern them. */
const openFetcher = (cli: Cli, settings: Settings, options: Partial<FetcherOptions>) =>
  new SnippetFetcher(settings, {
    warn: () => {},
    notify: cli.terminal.printError,
    parts: { clock: cli.clock },
    alwaysAsk: true,
    remember: true,
    ...options,
  });

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
const readDeployed = (record: string): Promise<Deployed | undefined> =>
  readFile(deployedFile(record), 'utf8')
    .then((text) => JSON.parse(text))
    .catch(({ code }) => (code === 'ENOENT' ? undefined : { files: {} }));

const writeDeployed = (record: string, deployed: Deployed) =>
  writeAtomically(deployedFile(record), JSON.stringify(deployed));

/** Compares what was deployed with the record. Without a file that says it, nothing differs. */
async function compareWithDeployed(cli: Cli) {
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
export async function needsDeploy(cli: Cli) {
  const { manifest, deployed, changed } = await compareWithDeployed(cli);
  if (!manifest || manifest.pending) return false;
  return deployed.hasBegun === true || changed?.length !== 0;
}

/** Has more files deployed than are due, even if this process ends before. */
export async function markForDeploy(cli: Cli, changed: ChangedFiles) {
  const { file, deployed } = await compareWithDeployed(cli);
  const files = Object.fromEntries(changed?.map((one) => [one.file, '']) ?? []);
  const builtAt = changed && deployed.builtAt;
  writeDeployed(file, { ...deployed, builtAt, files: { ...deployed.files, ...files } });
}

/** What is written meanwhile is due after it, unless the command is a build. */
export async function deploy(cli: Cli, command: string) {
  const { file, deployed, now: before, changed } = await compareWithDeployed(cli);
  const begun: Deployed = { ...deployed, hasBegun: true };
  writeDeployed(file, begun);
  const status = await runWithLists(cli, command, changed);
  // A build may have left a record elsewhere.
  const { file: fileNow, now } = await compareWithDeployed(cli);
  if (fileNow !== file) await rm(deployedFile(file), { force: true });
  if (status !== 0) writeDeployed(fileNow, begun);
  // Without a record, there is nothing to compare with.
  else if (!now.builtAt) await rm(deployedFile(fileNow), { force: true });
  else writeDeployed(fileNow, now.builtAt === before.builtAt ? before : now);
  return status;
}

const listVariables = { ASTRO_SNIPPETS_CHANGED_FILES: 'file', ASTRO_SNIPPETS_CHANGED_URLS: 'url' } as const;

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
    for (const [variable, kind] of Object.entries(listVariables)) {
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
export async function withCommandLock<T>(cli: Cli, work: (inner: Cli) => Promise<T>) {
  if (isInsideCommand(cli)) return work(cli);
  const lock = await waitForLock(commandLockFile(manifestPath(cli)), 'command', waitOptions(cli));
  const env = { ...cli.env, [heldLocks]: `${cli.env[heldLocks] ?? ''} ${lock.token}` };
  return work({ ...cli, env }).finally(() => lock.release());
}

/** Whether the process that holds the lock runs this one. */
function isInsideCommand(cli: Cli) {
  const token = holderOf(commandLockFile(manifestPath(cli)))?.token;
  return Boolean(token && cli.env[heldLocks]?.includes(token));
}

const waitOptions = ({ terminal, clock, signal }: Cli) => ({ log: terminal.printError, clock, signal });
