// What `--json` prints, for scripts. Tests hold what commands print against these types. Within a version, properties and
// events may be added; none is removed or changes its meaning.

export interface Document<Command extends string = string> {
  version: 1;
  command: Command;
  exitStatus: number;
}

/** A file of the output. */
export interface ShownFile {
  /** Its path in the output folder, with slashes. */
  file: string;
  /** Percent-encoded. Absolute if the site's `site` is known, else root-relative. */
  url: string;
}

export interface Request {
  id: number;
  /** JSON text, as `get --params` takes it; absent without params. */
  params?: string | undefined;
}

/** A snippet and where it is shown. */
export interface PlacedSnippet extends Request {
  /** The files that show it: pages, feeds, JSON and other text. */
  pages: ShownFile[];
  /** The entries of collections that show it. */
  collections: { collection: string; entry: string }[];
  /** Whether it does not exist, so that its optional embeds show their children. */
  missing?: true | undefined;
}

export interface ShownSnippet extends PlacedSnippet {
  /** What the site shows; absent if it could not be fetched, or does not exist. */
  content?: ContentFacts | undefined;
}

interface ContentFacts {
  /** Equal for equal contents. */
  hash: string;
  variant: 'render' | 'retrieve';
  fetchedAt: string;
  bytes: number;
  /** How long the service took. */
  milliseconds: number;
}

/** Something that only a build can update, or that was not written. */
export interface NotWritten {
  /** A file, or an entry of a collection, for people. */
  name: string;
  /** The end of a sentence that begins with the name. */
  reason: string;
}

interface WrittenFile extends ShownFile {
  /** What changed in it. A hash is absent where children were shown, or are shown now. */
  snippets: (Request & { oldHash?: string | undefined; newHash?: string | undefined })[];
}

interface Failure {
  /** One of docs/errors.md, `several` of them, `usage` for a wrong command line, or `unexpected`. */
  code: string;
  message: string;
  /** What to do next. */
  hint?: string | undefined;
}

export interface ListOutput extends Document<'list'> {
  builtAt: string;
  refreshedAt?: string | undefined;
  snippets: ShownSnippet[];
}

/** With `--exec`, the process exits with the status of the command instead of `exitStatus`. */
export interface CheckOutput extends Document<'check'> {
  /** How many snippets were compared. */
  compared: number;
  /** With the hash of the new content, if there is one. */
  changed: (PlacedSnippet & { newHash?: string | undefined })[];
  /** What an earlier refresh has left undone. */
  unfinished: NotWritten[];
}

export interface RefreshOutput extends Document<'refresh'> {
  /** Whether nothing was written, and `written` is what would be. */
  dryRun: boolean;
  written: WrittenFile[];
  notWritten: NotWritten[];
  /** With `--dry-run`: unified diffs of the text that would change. */
  diffs?: (Request & { pages: ShownFile[]; patch: string })[] | undefined;
  /** What the command of `--after` did, if it was run. */
  after?: { exitStatus: number } | undefined;
  /** What to do next, for people. */
  nextStep?: string | undefined;
}

export interface DoctorOutput extends Document<'doctor'> {
  /** Whether a build would work. */
  ready: boolean;
  checks: {
    /** The environment, or one of the variants of the service. */
    group: 'environment' | 'render' | 'retrieve';
    name: 'node' | 'settings' | 'api-key' | 'base-url' | 'snippet';
    outcome: 'ok' | 'failed' | 'not-checked';
    message: string;
    error?: Failure | undefined;
    hint?: string | undefined;
  }[];
}

/** `report --json`: what the HTML page is made from. */
export interface ReportOutput extends Document<'report'> {
  builtAt: string;
  refreshedAt?: string | undefined;
  /** The time of the build or refresh that changes are counted from, if on record. */
  comparedWith?: string | undefined;
  /** `pages` are the files that show snippets, `embeds` those in them. */
  totals: Record<'snippets' | 'pages' | 'embeds' | 'bytes' | 'slowestMilliseconds' | 'changed', number>;
  /** `unknown` without an earlier build. A snippet that is `gone` has no places. */
  snippets: (ShownSnippet & { change: 'added' | 'changed' | 'gone' | 'same' | 'unknown' })[];
}

/** One line of `watch --json`, with the time when it happened. */
export type WatchOutput = WatchEvent & { version: 1; command: 'watch'; at: string };

export type WatchEvent =
  /** Once. With `--listen`, `url` is where calls are accepted. */
  | { event: 'started'; everyMilliseconds: number; url?: string | undefined }
  /** With `--listen`: a call has arrived or was refused, for people; at most once a minute for each. */
  | { event: 'call'; message: string }
  /** A turn begins. */
  | { event: 'checking' }
  | { event: 'written'; written: WrittenFile[] }
  /** Only a build can update something: once, until that changes. */
  | { event: 'not-written'; notWritten: NotWritten[] }
  /** The check failed: once for each kind of trouble. */
  | { event: 'trouble'; error: Failure }
  | { event: 'recovered' }
  /** The command of `--after` failed, and is run again with the next check. */
  | { event: 'after-failed'; exitStatus: number }
  | { event: 'building' }
  /** The command of `--build` has ended. If it failed, it is run again after `retryMilliseconds`. */
  | (Ended & { event: 'built'; retryMilliseconds?: number | undefined })
  /** The command of `--exec` has ended. */
  | (Ended & { event: 'deployed' })
  /** A turn has ended. The next begins after `milliseconds`, or with a call. `upToDate`: what is published is shown and deployed. */
  | { event: 'waiting'; upToDate: boolean; milliseconds: number };

interface Ended {
  succeeded: boolean;
  /** Why not, as the end of a sentence. */
  problem?: string | undefined;
}

/** What any of these commands prints when it fails. */
export interface ErrorOutput extends Document<'list' | 'check' | 'refresh' | 'watch' | 'doctor' | 'report'> {
  error: Failure;
}
