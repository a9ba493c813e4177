import { hash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { cleanText, count, formatBytes, formatDuration } from '../client/text.ts';
import { entryName, userError } from '../failures/errors.ts';
import { contains, fileKind, shownPath, writeAtomically } from '../files/files.ts';
import { byKey, findUsage, type Manifest, readManifest, type SnippetUsage } from '../record/manifest.ts';
import { listManifests, manifestOf, manifestsIn, missingNote } from '../record/record-files.ts';
import { parseOptions } from '../settings/options.ts';
import { environmentVariables, readEnvironment, resolveSettings } from '../settings/settings.ts';
import { publishedUrl } from '../settings/site-urls.ts';
import type { ListOutput, NotWritten, PlacedSnippet, ReportOutput, Request } from './cli-output.ts';
import { type Cli, exitCodes, type Result } from './terminal.ts';

/** Where the record of the output folder is or would be, or the only record of the project. */
export function manifestPath({ cwd, manifest, output }: Cli) {
  if (manifest !== undefined) return resolve(cwd, manifest);
  const outDir = resolve(cwd, output ?? 'dist');
  const own = manifestOf(cwd, outDir);
  const [only, ...others] = listManifests(cwd);
  // During a build, and after one that failed, another record would be misleading.
  const mayBeBuilt = existsSync(missingNote(own)) || (output === undefined && existsSync(outDir));
  return !only || others.length > 0 || mayBeBuilt ? own : only;
}

export async function readRecord(cli: Cli) {
  const file = manifestPath(cli);
  return { file, ...(await readManifest(file)) };
}

/**
 * @throws AstroError without a usable record or the folder of `--output`; or if that is a copy of the one on record, which
 * `--manifest` allows for commands that only read.
 */
export async function openProject(cli: Cli, writes = false) {
  const { cwd, output } = cli;
  const { file, manifest, flaw } = await readRecord(cli);
  if (!manifest) throw await flawError(cwd, file, flaw);
  if (output === undefined) return { file, manifest };
  await requireFolder(cwd, output, 'The output folder');
  const [passed, built] = [resolve(cwd, output), manifest.output];
  const isChecked = (writes || cli.manifest === undefined) && existsSync(built);
  // A server build has its pages in a folder of the output.
  if (isChecked && !contains(realpathSync(passed), realpathSync(built))) {
    throw userError(
      'unusable-output',
      `The record is about ${shownPath(cwd, built)}, which still exists, and not about ${shownPath(cwd, passed)}.`,
      'Run the command without --output and copy the folder again, or build with --outDir, which makes another record.',
    );
  }
  // Only the output has moved: a build still empties `outDir`.
  return { file, manifest: { ...manifest, output: passed } };
}

async function flawError(cwd: string, file: string, flaw: string) {
  const refuse = (message: string, hint?: string) => userError('missing-manifest', message, hint);
  if (flaw !== 'is missing') return refuse(`The build manifest at ${file} ${flaw}.`, 'Build the site once.');
  const why = await readFile(missingNote(file), 'utf8').catch(() => '');
  if (why) return refuse(`${why} There is no record at ${file}.`, 'Build again.');
  const message = `No build manifest found at ${file}.`;
  const others: string[] = [];
  for (const record of manifestsIn(dirname(file))) {
    const { manifest } = await readManifest(record);
    if (manifest) others.push(`${shownPath(cwd, manifest.output)} (${shownPath(cwd, record)})`);
  }
  if (others.length === 0) return refuse(message);
  const hint =
    'Build the site once, or name the folder of another build with --output. If that folder was moved or copied, also pass its record to --manifest.';
  return refuse(`${message} Other records: ${others.join(', ')}.`, hint);
}

export async function requireFolder(cwd: string, folder: string, name: string, hint?: string) {
  const stats = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (stats?.isDirectory()) return;
  const problem = stats ? 'is not a folder' : 'does not exist';
  throw userError('missing-output', `${name} ${cleanText(folder)} ${problem}.`, hint);
}

/** Those of the last build. The key comes from the environment, as do base URLs that were not options: a service may move. */
export async function readSettings(cli: Cli, manifest: Manifest | undefined) {
  const environment = await readVariables(cli, manifest);
  if (!manifest) return resolveSettings(parseOptions({}), environment);
  const { urlOptions, renderBaseUrl, retrieveBaseUrl, ...recorded } = manifest.settings;
  const urls = Object.fromEntries(urlOptions.map((name) => [name, manifest.settings[name]]));
  const settings = resolveSettings(parseOptions(urls), {
    [environmentVariables.renderBaseUrl]: renderBaseUrl,
    [environmentVariables.retrieveBaseUrl]: retrieveBaseUrl,
    ...environment,
  });
  const { sanitizes, editLinks, images, ...rules } = manifest.rules;
  // `sanitize` cannot be recorded, and the other rules are about sanitized content.
  return { ...settings, ...recorded, ...(sanitizes ? {} : rules) };
}

/** As the last build did, or without one as a build without `--mode` would. */
export function readVariables(cli: Cli, manifest?: Manifest) {
  const { mode = 'production', directory = '' } = { ...manifest?.environment };
  const folder = directory !== false && resolve(cli.cwd, directory);
  return readEnvironment({ mode, directory: folder }, cli);
}

export const shownFile = ({ urls }: Pick<Manifest, 'urls'>, file: string) => ({
  file,
  url: publishedUrl(file, fileKind(file) === 'html', urls),
});

export function shownSnippet<Facts>(manifest: Manifest, shown: SnippetUsage, facts: Facts) {
  const { recorded, pages, collections } = shown;
  const { id, params } = recorded;
  return { id, params, ...facts, pages: pages.map((file) => shownFile(manifest, file)), collections };
}

/** A line for each snippet, which ends with one of these texts; below it, its places. */
export const snippetLines = (snippets: PlacedSnippet[], ifMissing: string, otherwise = '') =>
  snippets.map((snippet) => {
    const { pages, collections, missing } = snippet;
    const places = [...pages.map(({ file }) => file), ...collections.map(entryName)];
    return `${describeSnippet(snippet)}${missing ? ifMissing : otherwise}\n    ${places.join('\n    ')}`;
  });

export const describeSnippet = ({ id, params }: Request) =>
  `Snippet ${id}${params ? ` ${cleanText(params)}` : ''}`;

export const notWrittenLines = (notWritten: readonly NotWritten[]) =>
  notWritten.map(({ name, reason }) => `${name} ${reason}`);

export async function list(cli: Cli) {
  const { manifest } = await openProject(cli);
  const { builtAt, refreshedAt } = manifest;
  const snippets = listSnippets(manifest);
  const document: Result<ListOutput> = { exitStatus: exitCodes.ok, builtAt, refreshedAt, snippets };
  const lines = snippetLines(snippets, ' does not exist: children are shown');
  cli.terminal.show(document, () => lines.join('\n') || 'The site shows no snippets.');
}

const listSnippets = (manifest: Manifest): ListOutput['snippets'] =>
  findUsage(manifest).map((shown) => {
    const { missing, content } = shown.recorded;
    if (!content) return shownSnippet(manifest, shown, { missing });
    const { hash, variant, bytes, milliseconds } = content;
    const fetchedAt = new Date(content.fetchedAt).toISOString();
    return shownSnippet(manifest, shown, { content: { hash, variant, fetchedAt, bytes, milliseconds } });
  });

type Row = ReportOutput['snippets'][number];

export async function report(cli: Cli, to: string) {
  const { manifest } = await openProject(cli);
  const { builtAt, refreshedAt, previous, files } = manifest;
  const earlier = byKey(previous?.snippets);
  const snippets = listSnippets(manifest).map((snippet, index): Row => {
    const { key = '' } = manifest.snippets[index] ?? {};
    const known = earlier.get(key);
    earlier.delete(key);
    const change = !known ? 'added' : known.hash === snippet.content?.hash ? 'same' : 'changed';
    return { ...snippet, change: previous ? change : 'unknown' };
  });
  for (const { id, params } of earlier.values()) {
    snippets.push({ id, params, change: 'gone', pages: [], collections: [] });
  }
  const contents = snippets.flatMap(({ content }) => content ?? []);
  const document: Result<ReportOutput> = {
    exitStatus: exitCodes.ok,
    builtAt,
    refreshedAt,
    comparedWith: previous?.at,
    totals: {
      snippets: manifest.snippets.length,
      pages: files.length,
      embeds: files.reduce((sum, { shows }) => sum + shows.length, 0),
      bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
      slowestMilliseconds: contents.reduce((most, { milliseconds }) => Math.max(most, milliseconds), 0),
      changed: snippets.filter(({ change }) => change !== 'same' && change !== 'unknown').length,
    },
    snippets,
  };
  const file = resolve(cli.cwd, to);
  if (!cli.terminal.json) writeAtomically(file, await reportPage(document));
  cli.terminal.show(document, () => file);
}

/** Its policy allows only its own style and script. */
async function reportPage(document: Result<ReportOutput>) {
  // `list` does without it.
  const { Eta } = await import('eta');
  const template = readFileSync(join(import.meta.dirname, 'report.eta'), 'utf8');
  const own = template.matchAll(/<(style|script)>(.*?)<\/\1>/gs).map(([, name, code = '']) => {
    return `${name}-src 'sha256-${hash('sha256', code, 'base64')}'`;
  });
  // It escapes all text from outside.
  return new Eta({ useWith: true }).renderString(template, {
    ...document,
    policy: ["default-src 'none'", ...own].join('; '),
    placesOf,
    // A snippet may be on all pages of a large site.
    placesShown: 200,
    cleanText,
    count,
    formatBytes,
    formatDuration,
    // It may be read anywhere.
    formatTime: (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`,
  });
}

/** A place with a URL that a browser can open is a link. */
function placesOf({ pages, collections }: Row) {
  const files = pages.map(({ file, url }) => ({ name: file, href: /^https?:/.test(url) && url }));
  return [...files, ...collections.map((entry) => ({ name: entryName(entry) }))];
}
