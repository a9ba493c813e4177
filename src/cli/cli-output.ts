// What `--json` prints, for scripts that read it. The tests hold everything that commands print against these types. Within
// a version, properties and events may be added, and none is removed or changes its meaning.

export interface Document<Command extends string = string> {
  version: 1;
  command: Command;
  exitStatus: number;
}

/** A file of the output, where the site shows something. */
export interface ShownFile {
  /** Its path in the output folder, with slashes. */
  file: string;
  /** Its URL: absolute if the site's `site` is known, else root-relative. Percent-encoded. */
  url: string;
}

export interface Request {
  id: number;
  /** JSON text, as `get --params` takes it; absent without params. */
  params?: string | undefined;
}

export interface Places {
  /** The files that show it: pages, feeds, JSON and other text. */
  pages: ShownFile[];
  /** The entries of collections that show it. */
  collections: { collection: string; entry: string }[];
}

export interface ShownSnippet extends Request, Places {
  /** Whether it does not exist, so that its embeds, which are optional, show their children. */
  missing?: true | undefined;
  /** What the site shows; absent if it could not be fetched, or does not exist. */
  content?:
    | {
        /** Equal for equal contents. */
        hash: string;
        variant: 'render' | 'retrieve';
        fetchedAt: string;
        /** The size of the content. */
        bytes: number;
        /** How long the service took. */
        milliseconds: number;
      }
    | undefined;
}

/** Something that only a build can update, or that was not written. */
interface NotWritten {
  /** A file, or an entry of a collection, for people. */
  name: string;
  /** The end of a sentence that begins with the name. */
  reason: string;
}

interface WrittenFile extends ShownFile {
  /** What changed in it. */
  snippets: (Request & {
    /** Absent if the children of its embeds were shown. */
    oldHash?: string | undefined;
    /** Absent if the children of its embeds are shown now. */
    newHash?: string | undefined;
  })[];
}

interface Failure {
  /**
   * One of docs/errors.md; `several` for failures of different kinds, `usage` for unknown commands and options, and
   * `unexpected` for anything else.
   */
  code: string;
  message: string;
  /** What to do next. */
  hint?: string | undefined;
}

/** `list --json` */
export interface ListOutput extends Document<'list'> {
  builtAt: string;
  refreshedAt?: string | undefined;
  snippets: ShownSnippet[];
}

/** `check --json`. With `--exec`, the process exits with the status of the command instead of `exitStatus`. */
export interface CheckOutput extends Document<'check'> {
  /** How many snippets were compared. */
  compared: number;
  /** The snippets that have changed, with the places that show something else. */
  changed: (Request &
    Places & {
      missing?: true | undefined;
      /** Of the content that is published now; absent if it does not exist. */
      newHash?: string | undefined;
    })[];
  /** What an earlier refresh has left undone. */
  unfinished: NotWritten[];
}

/** `refresh --json` */
export interface RefreshOutput extends Document<'refresh'> {
  /** Whether nothing was written because of `--dry-run`, and `written` is what would be. */
  dryRun: boolean;
  written: WrittenFile[];
  notWritten: NotWritten[];
  /** With `--dry-run`: the text that would change, as unified diffs. */
  diffs?: (Request & { pages: ShownFile[]; patch: string })[] | undefined;
  /** What the command of `--after` did, if it was run. */
  after?: { exitStatus: number } | undefined;
  /** What to do next, for people. */
  nextStep?: string | undefined;
}

/** `doctor --json` */
export interface DoctorOutput extends Document<'doctor'> {
  /** Whether a build would work. */
  ready: boolean;
  checks: {
    /** What is checked: the environment, or one of the variants of the service. */
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
  /** The time of the build or refresh that changes are counted from; absent if there is none on record. */
  comparedWith?: string | undefined;
  totals: {
    snippets: number;
    /** Files that show snippets. */
    pages: number;
    embeds: number;
    bytes: number;
    slowestMilliseconds: number;
    changed: number;
  };
  snippets: (ShownSnippet & {
    /** What happened to it; `unknown` without an earlier build. A snippet that is `gone` has no places. */
    change: 'added' | 'changed' | 'gone' | 'same' | 'unknown';
  })[];
}

/** One line of `watch --json`. */
export type WatchOutput = WatchEvent & {
  version: 1;
  command: 'watch';
  /** When it happened. */
  at: string;
};

export type WatchEvent =
  | {
      event: 'started';
      everyMilliseconds: number;
      /** Where calls are accepted, with `--listen`. */
      url?: string | undefined;
    }
  /** With `--listen`: a signed call has arrived, or one was refused; for people. At most once a minute for each. */
  | { event: 'call'; message: string }
  /** A turn begins. */
  | { event: 'checking' }
  | { event: 'written'; written: WrittenFile[] }
  /** Only a build can update something: once, until that is something else. */
  | { event: 'not-written'; notWritten: NotWritten[] }
  /** The check failed: once for each kind of trouble. */
  | { event: 'trouble'; error: Failure }
  /** The check succeeded again. */
  | { event: 'recovered' }
  /** The command of `--after` failed. It is run again with the next check. */
  | { event: 'after-failed'; exitStatus: number }
  /** The command of `--build` begins. */
  | { event: 'building' }
  /** The command of `--build`, or that of `--exec`, has ended. */
  | {
      event: 'built' | 'deployed';
      succeeded: boolean;
      /** Why it did not succeed, as the end of a sentence. */
      problem?: string | undefined;
      /** How long until a build that failed is run again. */
      retryMilliseconds?: number | undefined;
    }
  /** A turn has ended. */
  | {
      event: 'waiting';
      /** Whether the whole site shows what is published, and was deployed. */
      upToDate: boolean;
      /** How long until the next turn, unless a call comes before. */
      milliseconds: number;
    };

/** What any of these commands prints when it fails. */
export interface ErrorOutput extends Document<'list' | 'check' | 'refresh' | 'watch' | 'doctor' | 'report'> {
  error: Failure;
}
