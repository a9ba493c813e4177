import { z } from 'zod';

// What `--json` prints, as schemas: for scripts that read it, and for the tests, which read everything with them. Within
// a version, properties and events may be added, and none is removed or changes its meaning.

const version = z.literal(1);

const exitStatus = z.int().min(0);

/** Where the site shows something: a file of the output. */
const file = z.object({
  /** Its path in the output folder, with slashes. */
  file: z.string(),
  /** Its URL: absolute if the site's `site` is known, else root-relative. Percent-encoded. */
  url: z.string(),
});

const request = {
  id: z.int().positive(),
  /** JSON text, as `get --params` takes it; absent without params. */
  params: z.string().optional(),
};

const places = {
  /** The files that show it: pages, feeds, JSON and other text. */
  pages: z.array(file),
  /** The entries of collections that show it. */
  collections: z.array(z.object({ collection: z.string(), entry: z.string() })),
};

const content = z.object({
  /** Equal for equal contents. */
  hash: z.string(),
  variant: z.enum(['render', 'retrieve']),
  fetchedAt: z.iso.datetime(),
  /** The size of the content. */
  bytes: z.int().min(0),
  /** How long the service took. */
  milliseconds: z.number().min(0),
});

const shownSnippet = z.object({
  ...request,
  /** Whether it does not exist, so that its embeds, which are optional, show their children. */
  missing: z.literal(true).optional(),
  /** What the site shows; absent if it could not be fetched, or does not exist. */
  content: content.optional(),
  ...places,
});

/** A snippet of which something else is published than what some places show. */
const changedSnippet = z.object({
  ...request,
  missing: z.literal(true).optional(),
  /** Of the content that is published now; absent if it does not exist. */
  newHash: z.string().optional(),
  ...places,
});

/** Something that only a build can update, or that was not written. */
const notWritten = z.object({
  /** A file, or an entry of a collection, for people. */
  name: z.string(),
  /** The end of a sentence that begins with the name. */
  reason: z.string(),
});

const writtenFile = file.extend({
  /** What changed in it. */
  snippets: z.array(
    z.object({
      ...request,
      /** Absent if the children of its embeds were shown. */
      oldHash: z.string().optional(),
      /** Absent if the children of its embeds are shown now. */
      newHash: z.string().optional(),
    }),
  ),
});

const error = z.object({
  /**
   * One of docs/errors.md; `several` for failures of different kinds, `usage` for unknown commands and options, and
   * `unexpected` for anything else.
   */
  code: z.string(),
  message: z.string(),
  /** What to do next. */
  hint: z.string().optional(),
});

/** `list --json` */
export const listOutput = z.object({
  version,
  command: z.literal('list'),
  exitStatus,
  builtAt: z.iso.datetime(),
  refreshedAt: z.iso.datetime().optional(),
  snippets: z.array(shownSnippet),
});

/** `check --json`. With `--exec`, the process exits with the status of the command instead of `exitStatus`. */
export const checkOutput = z.object({
  version,
  command: z.literal('check'),
  exitStatus,
  /** How many snippets were compared. */
  compared: z.int().min(0),
  /** The snippets that have changed, with the places that show something else. */
  changed: z.array(changedSnippet),
  /** What an earlier refresh has left undone. */
  unfinished: z.array(notWritten),
});

/** `refresh --json` */
export const refreshOutput = z.object({
  version,
  command: z.literal('refresh'),
  exitStatus,
  /** Whether nothing was written because of `--dry-run`, and `written` is what would be. */
  dryRun: z.boolean(),
  written: z.array(writtenFile),
  notWritten: z.array(notWritten),
  /** With `--dry-run`: the text that would change, as unified diffs. */
  diffs: z.array(z.object({ ...request, pages: z.array(file), patch: z.string() })).optional(),
  /** What the command of `--after` did, if it was run. */
  after: z
    .object({
      exitStatus,
      /** The names of what it should have renewed and did not. */
      notRenewed: z.array(z.string()),
    })
    .optional(),
  /** What to do next, for people. */
  nextStep: z.string().optional(),
});

/** `doctor --json` */
export const doctorOutput = z.object({
  version,
  command: z.literal('doctor'),
  exitStatus,
  /** Whether a build would work. */
  ready: z.boolean(),
  checks: z.array(
    z.object({
      /** What is checked: the environment, or one of the variants of the service. */
      group: z.enum(['environment', 'render', 'retrieve']),
      name: z.enum([
        'node',
        'settings',
        'api-key',
        'base-url',
        'connection',
        'certificate',
        'url',
        'service',
        'key',
        'subscription',
        'permission',
        'snippet',
      ]),
      outcome: z.enum(['ok', 'failed', 'not-checked']),
      message: z.string(),
      error: error.omit({ hint: true }).optional(),
      hint: z.string().optional(),
    }),
  ),
});

/** `report --json`: what the HTML page is made from. */
export const reportOutput = z.object({
  version,
  command: z.literal('report'),
  exitStatus,
  builtAt: z.iso.datetime(),
  refreshedAt: z.iso.datetime().optional(),
  /** The time of the build or refresh that changes are counted from; absent if there is none on record. */
  comparedWith: z.iso.datetime().optional(),
  totals: z.object({
    snippets: z.int().min(0),
    /** Files that show snippets. */
    pages: z.int().min(0),
    embeds: z.int().min(0),
    bytes: z.int().min(0),
    slowestMilliseconds: z.number().min(0),
    changed: z.int().min(0),
  }),
  snippets: z.array(
    shownSnippet.extend({
      /** What happened to it; `unknown` without an earlier build. A snippet that is `gone` has no places. */
      change: z.enum(['added', 'changed', 'gone', 'same', 'unknown']),
    }),
  ),
});

const event = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.object({
    version,
    command: z.literal('watch'),
    event: z.literal(name),
    /** When it happened. */
    at: z.iso.datetime(),
    ...shape,
  });

const ranCommand = {
  succeeded: z.boolean(),
  /** Why it did not succeed, as the end of a sentence. */
  problem: z.string().optional(),
};

/** One line of `watch --json`. */
export const watchOutput = z.discriminatedUnion('event', [
  event('started', { everyMilliseconds: z.int() }),
  /** A turn begins. */
  event('checking', {}),
  event('written', { written: z.array(writtenFile) }),
  /** Only a build can update something: once, until that is something else. */
  event('not-written', { notWritten: z.array(notWritten) }),
  /** The check failed: once for each kind of trouble. */
  event('trouble', { error }),
  /** The check succeeded again. */
  event('recovered', {}),
  /** The command of `--after` failed. It is run again with the next check. */
  event('after-failed', { exitStatus }),
  /** The command of `--build` begins. */
  event('building', {}),
  /** The command of `--build` has ended. */
  event('built', {
    ...ranCommand,
    /** How long until it is run again, if it failed. */
    retryMilliseconds: z.number().min(0).optional(),
  }),
  /** The command of `--exec` has ended. */
  event('deployed', ranCommand),
]);

/** What any of these commands prints when it fails. */
export const errorOutput = z.object({
  version,
  command: z.enum(['list', 'check', 'refresh', 'watch', 'doctor', 'report']),
  exitStatus,
  error,
});

export type ListOutput = z.output<typeof listOutput>;
export type CheckOutput = z.output<typeof checkOutput>;
export type RefreshOutput = z.output<typeof refreshOutput>;
export type DoctorOutput = z.output<typeof doctorOutput>;
export type ReportOutput = z.output<typeof reportOutput>;
export type WatchOutput = z.output<typeof watchOutput>;
export type ErrorOutput = z.output<typeof errorOutput>;
