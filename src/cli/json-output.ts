// What `--json` prints, for scripts. Tests compare what commands print with these types.
//
// A command prints one document, and `watch` one event a line. If a command fails, its document is an
// `ErrorOutput`. Times are ISO 8601 in UTC, and sizes are bytes of UTF-8. A property that is `undefined` in a
// type is left out of the JSON text.
//
// Within a version, properties and events may be added. None is removed, and none changes its meaning.

/** What all documents have. */
export interface Document<Command extends string = string> {
  /** The version of this format. */
  version: 1;
  /** The name of the command, such as `check`. */
  command: Command;
  /** The exit status of the command. What each one means is listed by `astro-snippets <command> --help`. */
  exitStatus: number;
}

/** A file of the output. */
export interface ShownFile {
  /** The path in the output folder, with slashes. */
  file: string;
  /** The URL, percent-encoded. Absolute if the site's `site` is known, else root-relative. */
  url: string;
}

/** A snippet as a page asks for it. The same id with other params is another snippet. */
export interface Request {
  id: number;
  /** The params as JSON text, as `get --params` takes them; absent without params. */
  params?: string | undefined;
  /** The name that people gave the snippet; absent if it is not known. Only retrieving sends it. */
  name?: string | undefined;
}

/** A snippet and where it is shown. */
export interface PlacedSnippet extends Request {
  /** The files that show the snippet: pages, feeds, JSON and other text. */
  pages: ShownFile[];
  /** The entries of content collections that show the snippet. Which pages show an entry is not known. */
  collections: { collection: string; entry: string }[];
  /** Present if the snippet does not exist. All its embeds are optional then, and show their children. */
  missing?: true | undefined;
}

/** A snippet of the last build. */
export interface ShownSnippet extends PlacedSnippet {
  /** The content that the site shows; absent if the site shows children instead. */
  content?: ContentFacts | undefined;
  /** What is wrong with the snippet, as of the last build or refresh; absent if nothing is known to be. */
  warnings?: FlawFacts[] | undefined;
}

/** Facts about the content of a snippet, as it was fetched. */
interface ContentFacts {
  /** A hash of the content: equal for equal contents. */
  hash: string;
  /** Whether the content was rendered (variant B; specification, section 4) or retrieved (variant A). */
  variant: 'render' | 'retrieve';
  fetchedAt: string;
  bytes: number;
  /** How long the service took to answer, in milliseconds. */
  milliseconds: number;
}

/** What is wrong with a snippet that is shown nevertheless. */
export interface FlawFacts {
  /** A code of docs/errors.md, under "Warnings about snippets". */
  code: string;
  /** The message for people, without the code and the pages. */
  message: string;
  /** What to do next, for people. */
  hint: string;
  /** The line of the snippet's content, from 1; absent if it is not known. */
  line?: number | undefined;
  /** The files that show it. */
  pages: ShownFile[];
}

/** A warning about a snippet. */
export interface Warning extends Request, FlawFacts {}

/** Something that only a build can update, or that was not written. */
export interface NotWritten {
  /** The name of a file, of an entry of a collection, or of a command, for people. */
  name: string;
  /** The end of a sentence that begins with the name. */
  reason: string;
}

/** A file that was written, or would be. */
interface WrittenFile extends ShownFile {
  /** The snippets that change in the file. A hash is absent where children were shown, or now are. */
  snippets: (Request & { oldHash?: string | undefined; newHash?: string | undefined })[];
}

/** Why something failed. */
interface Failure {
  /** A code of docs/errors.md, `several` of them, `usage` for a wrong command line, or `unexpected`. */
  code: string;
  /** The message for people, without the code. */
  message: string;
  /** What to do next, for people. */
  hint?: string | undefined;
}

/** `list --json`: the snippets of the last build. */
export interface ListOutput extends Document<'list'> {
  builtAt: string;
  /** When the site was last refreshed; absent if not since the build. */
  refreshedAt?: string | undefined;
  snippets: ShownSnippet[];
}

/** `check --json`: which snippets have changed since the build. The `--exec` command sets the exit status. */
export interface CheckOutput extends Document<'check'> {
  /** How many snippets were compared with the service. */
  compared: number;
  /** The snippets that have changed, with the hash of the new content; absent if it no longer exists. */
  changed: (PlacedSnippet & {
    newHash?: string | undefined;
    /** Set if the content is the same: what has changed are its images, or its name in edit links. */
    only?: 'images' | 'name' | undefined;
  })[];
  /** What is wrong with the new contents, as far as it is known without their pages. */
  warnings: Warning[];
  /** What earlier commands have left undone. With `--output`, also files that only a build can update. */
  unfinished: NotWritten[];
}

/** `refresh --json`: what was written, and what was not. */
export interface RefreshOutput extends Document<'refresh'> {
  /** Whether nothing was written, and `written` is what would be. */
  dryRun: boolean;
  written: WrittenFile[];
  /** What is wrong with the snippets that were written, or would be. */
  warnings: Warning[];
  /** The files, entries and commands that were not updated, each with the reason. */
  notWritten: NotWritten[];
  /** With `--dry-run`: unified diffs of the contents that would change, each with the pages that show it. */
  diffs?: (Request & { pages: ShownFile[]; patch: string })[] | undefined;
  /** How the command of `--after` ended, if it was run. */
  after?: { exitStatus: number } | undefined;
  /** What to do next, for people. */
  nextStep?: string | undefined;
}

/** `doctor --json`: whether a build would work. */
export interface DoctorOutput extends Document<'doctor'> {
  /** Whether no check failed. */
  ready: boolean;
  /** The checks in the order in which they were made. Some failures leave out those that would follow. */
  checks: {
    /** What the check is about: the environment, or one of the variants of the service. */
    group: 'environment' | 'render' | 'retrieve';
    name: 'node' | 'settings' | 'api-key' | 'base-url' | 'snippet';
    /** A check is `not-checked` if the variant is not used. */
    outcome: 'ok' | 'failed' | 'not-checked';
    /** What was found, for people. */
    message: string;
    /** The error, if one was the reason that the check failed. */
    error?: Failure | undefined;
    /** What to do next, for people. */
    hint?: string | undefined;
  }[];
}

/** `report --json`: what the HTML page is made from. */
export interface ReportOutput extends Document<'report'> {
  builtAt: string;
  /** When the site was last refreshed; absent if not since the build. */
  refreshedAt?: string | undefined;
  /** The time of the build or refresh that changes are counted from; absent if none is on record. */
  comparedWith?: string | undefined;
  /**
   * Sums over the site. `pages` are the files that show snippets, `embeds` those in them, `bytes` the sizes
   * of all contents, and `changed` the snippets that were added, have changed or are gone.
   */
  totals: Record<'snippets' | 'pages' | 'embeds' | 'bytes' | 'slowestMilliseconds' | 'changed', number>;
  /**
   * The snippets of the site, and those that it no longer shows: these are `gone`, and have no places. All
   * changes are `unknown` if nothing is on record to compare with.
   */
  snippets: (ShownSnippet & {
    change: 'added' | 'changed' | 'gone' | 'same' | 'unknown';
    /** The first 80 characters of the text, without tags; absent if there is none. */
    text?: string | undefined;
    /** Where the snippet is edited, if the option `editUrl` says so: an absolute URL. */
    editUrl?: string | undefined;
  })[];
}

/** `watch --json`: one line, with the time when it happened. */
export type WatchOutput = WatchEvent & { version: 1; command: 'watch'; at: string };

/** What happens in a watch, which makes turns: each begins with `checking` and ends with `waiting`. */
export type WatchEvent =
  /** The watch begins: printed once. With `--listen`, `url` is where calls are accepted. */
  | { event: 'started'; everyMilliseconds: number; url?: string | undefined }
  /** With `--listen`: a call has arrived or was refused, for people. At most once a minute for each. */
  | { event: 'call'; message: string }
  /** A turn begins. */
  | { event: 'checking' }
  /** Files were updated. `warnings` says what is wrong with the snippets that were written. */
  | { event: 'written'; written: WrittenFile[]; warnings: Warning[] }
  /** Only a build can update something: printed once, until that changes. */
  | { event: 'not-written'; notWritten: NotWritten[] }
  /** A turn of `watch` failed: printed once for each kind of failure, until a turn succeeds. */
  | { event: 'trouble'; error: Failure }
  /** The check succeeded after trouble. */
  | { event: 'recovered' }
  /** The command of `--after` failed. It is run again with the next check. */
  | { event: 'after-failed'; exitStatus: number }
  /** The command of `--build` begins. */
  | { event: 'building' }
  /**
   * The command of `--build` has ended. If it failed, it is run again after `retryMilliseconds`, otherwise
   * `warnings` says what is wrong with the snippets of the site.
   */
  | (Ended & { event: 'built'; retryMilliseconds?: number | undefined; warnings?: Warning[] | undefined })
  /** The command of `--exec` has ended. If it failed, it is run again with the next check. */
  | (Ended & { event: 'deployed' })
  /**
   * A turn has ended. The next begins after `milliseconds`, or with a call. `upToDate` says whether
   * everything that is published is shown and deployed.
   */
  | { event: 'waiting'; upToDate: boolean; milliseconds: number };

/** How a command of a watch has ended. */
interface Ended {
  succeeded: boolean;
  /** Why the command failed: the end of a sentence that begins with the command. */
  problem?: string | undefined;
}

/** What any of these commands prints when it fails. */
export interface ErrorOutput extends Document<'list' | 'check' | 'refresh' | 'watch' | 'doctor' | 'report'> {
  error: Failure;
}
