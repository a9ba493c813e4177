import {
  type EndingCode,
  SnippetError,
  type SnippetErrorCode,
  type SnippetRequest,
} from '../client/snippet-request.ts';
import { cleanLines, cleanText, count, formatDuration } from '../client/text.ts';

// What to do next, by code. Codes are permanent. A new one goes into the table of its effect; the compiler asks for the rest.
const laterOrChildren = 'Try again later, or give the embed children to show.';

/** Every request would fail the same way, so no more are made. */
const fatalErrors = {
  unauthorized: 'Check SNIPPETS_API_KEY: the service does not know this key.',
  'payment-required':
    "The organization's free trial or subscription has expired. Renew it on the service's website.",
  'unsupported-node': 'Install a newer Node, here and where the site is deployed.',
} satisfies Record<EndingCode | 'unsupported-node', string>;

/** Something has to be fixed: the build fails even if the embed has children. */
const snippetErrors = {
  forbidden:
    'Use a secret key: a public one has limited privileges. If the key may only retrieve, set SNIPPETS_RETRIEVE_BASE_URL alone.',
  'not-found':
    'Check the id: the snippet does not exist, is not published, or belongs to another organization. The attribute `optional` allows that. If no snippet is found, check the base URLs.',
  'no-route': 'Check SNIPPETS_RENDER_BASE_URL and SNIPPETS_RETRIEVE_BASE_URL, with their path prefix.',
  'unexpected-status': 'Check the base URLs, and any proxy on the way.',
  redirect: 'Set the base URL to where the service has moved: redirects are never followed.',
  'no-content': 'Set SNIPPETS_RENDER_BASE_URL, so that snippets are rendered.',
  certificate:
    'For your own certificate authority, set the option `ca`, or NODE_EXTRA_CA_CERTS in the environment, not in .env.',
  'too-large': 'Make the snippet smaller, or split it.',
  'invalid-id': 'Write a positive whole number: <Snippet id={42} /> or <snippet-embed id="42">.',
  'invalid-params': 'Write one plain JSON object, such as {"plan":"pro"}.',
  'invalid-options': 'Fix it in the config or in the environment.',
  aborted: 'Try again.',
  closed: 'Try again.',
  'sanitize-failed': 'Fix the option `sanitize`: a function from HTML to HTML.',
  'too-many-tags': 'Split the snippet: it may have 100,000 tags.',
  'script-refused':
    "Remove the script from the snippet, or set scripts: 'strip', or 'allow' if you trust the authors.",
  'left-open': 'Close the element in the snippet. With strict: false, this is a warning.',
  'embed-unclosed': 'End the embed with </snippet-embed>.',
  'embed-nested': 'Close the outer embed first. Children are plain HTML.',
  'embed-in-island': 'Pass the embed as children: <Box client:load><Snippet id={42} /></Box>.',
  'embed-in-script': 'Put the embed into HTML or a data attribute, and let the script read it there.',
  'embed-in-attribute': 'Put the embed into a data attribute, and let the code read it there.',
  'embed-in-xml': 'Escape the embed, or put it into a CDATA section.',
  'embed-lost':
    'Look for it in the slot of a server island, in code such as <pre>, in an excluded file, and in a component that discards its children. Sanitizers have to let `snippet-embed` through.',
  'unrendered-component':
    'In a .md file, write <snippet-embed id="42"></snippet-embed>, or rename it to .mdx. In <title> and <textarea>, Astro before 7 needs <snippet-embed>, too. Put an example between backticks.',
  'unknown-attribute': 'An embed takes `id`, `params`, `as` and `optional`; `<Snippet>` takes `of` as well.',
  'invalid-as': 'Use as="html" or as="text".',
  'invalid-optional': 'Write <Snippet id={42} optional> or <snippet-embed id="42" optional>.',
  'params-failed': 'Fix the option `params`: a function from { page, lang } to one plain JSON object.',
};

/** The service is in trouble: embeds show their children. One without fails the build. */
const outageErrors = {
  'rate-limited': 'Try again later, or set a lower `concurrency`.',
  'server-error': laterOrChildren,
  'bad-answer': 'A proxy on the way may cut off or change answers.',
  network: 'Check the base URLs and the network. Behind a proxy, set HTTPS_PROXY.',
  timeout: laterOrChildren,
  unavailable: `${laterOrChildren} If nothing answers at all, check the base URLs and the network.`,
  'not-cached':
    'Build once, or view the page in `astro dev`, without `offline` and with the same key and base URLs.',
};

/** It is wrong before any snippet is fetched, or of the output as a whole. */
const setupErrors = {
  'missing-key': 'Set SNIPPETS_API_KEY in the environment, or in a .env file that is not committed.',
  'missing-url':
    'Set SNIPPETS_RENDER_BASE_URL, SNIPPETS_RETRIEVE_BASE_URL or both, in the environment or as options.',
  'unreadable-key-file': 'Write the API key to that file, or set SNIPPETS_API_KEY instead.',
  'exposed-key':
    'Browsers can read PUBLIC_ variables: set only SNIPPETS_API_KEY, and replace a key that was published.',
  'published-key':
    'Find out how the key got there (a PUBLIC_ variable, a snippet, a value printed into a page), and replace it.',
  'late-embed':
    'List the other integration before snippets() in the Astro config, and have it write the file in `astro:build:generated`.',
  'stale-compressed-file':
    'Servers send it instead of the page: compress files in `astro:build:done`, or after the build.',
  'missing-integration': 'Add snippets() to the integrations of the Astro config.',
  'duplicate-integration':
    'Keep one snippets() in the Astro config. A preset or a theme may add another one.',
  'on-demand-page':
    'Prerender the page with `export const prerender = true`, or fetch the snippet with `SnippetClient` from `astro-snippets/client`. In MDX for a feed, write `<snippet-embed>`.',
  'embed-in-browser':
    'Pass the embed to an island as children: <Box client:load><Snippet id={42} /></Box>. For a script, write it into a <template>.',
  'missing-manifest':
    'Build the site in this folder, or run `astro-snippets inline` on it, with this version. If you set a cacheDir, pass --manifest.',
  'output-in-use':
    'Wait for the other process, or delete the lock file if there is none. Two builds at once need an outDir each.',
  'missing-output': 'Pass the folder of the built site, or no --output if it was not moved.',
  'unusable-output':
    'Pass a folder that is neither inside the input nor around it, and run the command above both.',
  'webhook-secret':
    'Set SNIPPETS_WEBHOOK_SECRET to the secret of the sender, at least 16 characters. `echo "whsec_$(openssl rand -base64 32)"` makes one.',
  'cannot-listen':
    'EADDRINUSE: the port is in use. EACCES: this user may not use it. EADDRNOTAVAIL, ENOTFOUND: the host is not this machine.',
  'unwritable-file': 'Free disk space or fix permissions, then build again.',
};

const hintsOfSnippets = { ...fatalErrors, ...snippetErrors, ...outageErrors } satisfies Record<
  SnippetErrorCode,
  string
>;

export const hints = { ...hintsOfSnippets, ...setupErrors };

/** What goes wrong with a snippet besides fetching it. */
export type SiteErrorCode = Exclude<keyof typeof hintsOfSnippets, SnippetErrorCode>;
export type ErrorCode = keyof typeof hints;

/** For failures with different reasons, and for `doctor`: sentences without a period. */
export const titles: Record<SnippetErrorCode, string> & Partial<Record<ErrorCode, string>> = {
  unauthorized: 'The API key is not valid',
  'payment-required': 'The subscription has expired',
  'unsupported-node': 'This version of Node is too old',
  forbidden: 'The API key lacks a permission',
  'not-found': 'The snippet does not exist',
  'no-route': 'The base URL is not the URL of the service',
  'unexpected-status': 'The service answered with an unexpected status',
  redirect: 'The service answered with a redirect',
  'no-content': 'The answer has no content',
  certificate: 'The certificate of the service could not be verified',
  'too-large': 'The answer is too large',
  'invalid-id': 'The snippet id is invalid',
  'invalid-params': 'The params are invalid',
  'invalid-options': 'An option or environment variable is invalid',
  aborted: 'The request was aborted',
  closed: 'The client was closed',
  'sanitize-failed': 'The snippet could not be sanitized',
  'too-many-tags': 'The snippet has too many tags',
  'script-refused': 'The snippet contains a script',
  'left-open': 'The snippet leaves an element open',
  'rate-limited': 'The service asks for fewer requests',
  'server-error': 'The service has an internal error',
  'bad-answer': 'The answer is incomplete or malformed',
  network: 'The service could not be reached',
  timeout: 'The service took too long',
  unavailable: 'The service is down',
  'not-cached': 'The snippet is not in the cache',
};

/** Of a snippet that arrived but must not be shown, or of an invalid embed. */
export class SiteError extends Error {
  override readonly name = 'SiteError';
  readonly code: SiteErrorCode;
  /** Without the part that names the snippet. */
  readonly reason: string;

  constructor(code: SiteErrorCode, reason: string, snippetId?: number) {
    const clean = cleanLines(reason);
    super(snippetId ? `Snippet ${snippetId} ${clean}` : clean);
    this.code = code;
    this.reason = clean;
  }
}

export type SnippetFailure = SnippetError | SiteError;

export function isSnippetFailure(error: unknown): error is SnippetFailure {
  return error instanceof SnippetError || error instanceof SiteError;
}

export function consequenceOf({ code }: { code: ErrorCode }) {
  if (code in snippetErrors) return 'fail';
  return code in outageErrors ? 'children' : 'end';
}

/** An error for people, with a hint. Astro recognizes it by `type`: without Astro, its class is not there. */
export class UserError extends Error {
  readonly type = 'AstroUserError';
  readonly hint: string;
  /** `undefined` for a report, which shows the code of each failure. */
  readonly code: ErrorCode | undefined;
  readonly codes: readonly ErrorCode[];

  constructor(message: string, hint: string, codes: ErrorCode | readonly ErrorCode[]) {
    super(cleanLines(message));
    this.hint = cleanLines(hint);
    this.code = typeof codes === 'string' ? codes : undefined;
    this.codes = [codes].flat();
    this.name = this.code ? `astro-snippets/${this.code}` : 'astro-snippets';
    // It would only name a place in this package.
    this.stack = '';
  }
}

/** @param hint if the table says it less well. */
export const userError = (code: ErrorCode, message: string, hint = hints[code]) =>
  new UserError(message, hint, code);

export interface PlacedRequest {
  request: SnippetRequest;
  /** Names of files and of entries of collections, each once. */
  places: string[];
  placesWithoutChildren: string[];
  /** Where each of its embeds is optional. */
  optionalPlaces?: Set<string>;
}

export type FailedSnippet = PlacedRequest & { error: SnippetFailure };

export interface CollectionEntry {
  collection: string;
  entry: string;
}

export const entryName = ({ collection, entry }: CollectionEntry) =>
  `${collection} (collection), entry "${entry}"`;

/** What a build says about an embed without failing. */
export interface EmbedNote {
  message: string;
  /** As it is written. */
  id?: string | undefined;
  file?: string | undefined;
  line?: number;
  code?: ErrorCode | undefined;
  /** Text that only looks like an embed. */
  isDoubtful?: boolean;
}

/** Where an embed, or a snippet on any page, is written. */
export type PlaceOf = (sought: Omit<EmbedNote, 'message'>) => string;

export type InvalidEmbed = EmbedNote & { file: string; code: ErrorCode };

export function describeNote(note: EmbedNote, placeOf?: PlaceOf) {
  const place = placeOf?.(note);
  return place ? `${note.message} It is ${place}.` : note.message;
}

export interface Failures {
  failed: readonly FailedSnippet[];
  /** Requests that were not made, as each would have failed the same way. */
  notAsked: number;
  embeds: readonly InvalidEmbed[];
  placeOf?: PlaceOf | undefined;
}

const paramsShown = 80;
const examplesShown = 10;

type Placed = Pick<PlacedRequest, 'request' | 'places'>;
/** With the time of the last good content, if that is shown instead. */
type Failed = Placed & { error: SnippetFailure; fetchedAt?: number };

/** @throws AstroError with one report of all that a build fails for. */
export function throwFailures({ failed, notAsked, embeds, placeOf }: Failures) {
  // One stands for all that received the answer that ends the run.
  const ending = failed.filter(({ error }) => consequenceOf(error) === 'end');
  const reported = failed
    .filter((failure) => consequenceOf(failure.error) !== 'end' || failure === ending[0])
    .map((failure): Failed => ({ ...failure, places: placesThatFail(failure) }))
    .filter(({ places }) => places.length > 0);
  if (reported.length + embeds.length === 0) return;
  const skipped = notAsked + Math.max(0, ending.length - 1);
  const describe = ({ request, error, places }: Failed) => {
    const lines = [`on ${listPlaces(places)}`, placeOf?.({ id: String(request.id) })];
    return paragraph(nameSnippet(request), failureReason(error), error, lines);
  };
  const entries = [...groupByCause(reported, placeOf, describe), ...describeEmbeds(embeds, placeOf)];
  if (skipped > 0) entries.push(`${count(skipped, 'more snippet')} would fail the same way.`);
  const codes = new Set([...reported.map(({ error }) => error.code), ...embeds.map(({ code }) => code)]);
  throw new UserError(
    `${headline(reported, skipped, embeds.length)}\n\n${entries.join('\n\n')}\n`,
    [...codes].map((code) => `${code}: ${hints[code]}`).join('\n'),
    [...codes],
  );
}

/** About snippets whose children, or last good content, are shown instead. */
export function failureWarnings(failed: readonly Failed[], placeOf?: PlaceOf) {
  const warn = (one: Failed) => {
    const { request, error } = one;
    // What fails for all snippets at once does not name one.
    const isForAll = error instanceof SnippetError && error.snippetId === undefined;
    const message = isForAll ? `${nameSnippet(request)}: ${error.reason}` : error.message;
    return `${message.replace(/\.?$/, '.')} ${shownInstead([one])} on ${allPlaces(one, placeOf)}. [${error.code}]`;
  };
  return groupByCause(failed, placeOf, warn, (many) => `\n${shownInstead(many)}.`);
}

interface ShownContent {
  error?: SnippetFailure | undefined;
  fetchedAt?: number | undefined;
  warnings: readonly string[];
}

export function shownWarnings(
  snippets: ReadonlyMap<string, ShownContent>,
  uses: readonly Placed[],
  placeOf?: PlaceOf,
) {
  const flaws = new Set<string>();
  const stale: Failed[] = [];
  for (const { request, places } of uses) {
    const { error, fetchedAt = 0, warnings = [] } = snippets.get(request.key) ?? {};
    if (error) stale.push({ request, error, places, fetchedAt });
    // With other params, a snippet has the same flaw: one warning for each list of pages.
    for (const flaw of warnings) flaws.add(`${flaw} It is on ${allPlaces({ request, places }, placeOf)}.`);
  }
  return [...failureWarnings(stale, placeOf), ...flaws];
}

function shownInstead(some: readonly Failed[]) {
  const isOne = some.length === 1;
  const times = some.flatMap(({ fetchedAt }) => fetchedAt ?? []);
  if (times.length === 0) return `${isOne ? 'Its' : 'Their'} children are shown instead`;
  const oldest = formatDuration(Math.max(0, Date.now() - Math.min(...times)), 'long');
  const content = isOne ? 'Its last good content,' : 'Their last good content, the oldest';
  return `${content} fetched ${oldest} ago, is shown instead`;
}

/** The first few, cleaned, and how many more there are. */
export function listNames(names: readonly string[], most = 10) {
  const shown = names.slice(0, most).map(cleanText).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export function listPlaces(places: readonly string[], most = 3) {
  const shown = places.slice(0, most).join(', ');
  const more = places.length - most;
  return more > 0 ? `${shown} and ${count(more, 'more place')}` : shown;
}

const allPlaces = ({ request, places }: Placed, placeOf?: PlaceOf) =>
  [listPlaces(places), placeOf?.({ id: String(request.id) })].filter(Boolean).join(', ');

function placesThatFail({ error, places, placesWithoutChildren, optionalPlaces }: FailedSnippet) {
  const failing = consequenceOf(error) === 'children' ? placesWithoutChildren : places;
  // An optional embed shows its children.
  return error.code === 'not-found' ? failing.filter((place) => !optionalPlaces?.has(place)) : failing;
}

/** Counts snippets that were not asked for, too. */
function headline(snippets: readonly Failed[], skipped: number, embeds: number) {
  const isFetched = ({ error }: Failed) => !(error instanceof SnippetError) && error.code !== 'not-cached';
  const refused = snippets.filter(isFetched).length;
  const failed = snippets.length - refused + skipped;
  const parts = [
    failed > 0 && `${count(failed, 'snippet')} could not be fetched`,
    refused > 0 && `${count(refused, 'snippet')} must not be shown`,
    embeds > 0 && `${count(embeds, 'embed')} ${embeds === 1 ? 'is' : 'are'} invalid`,
  ];
  return `${parts.filter(Boolean).join(', and ')}.`;
}

function nameSnippet({ id, params = '' }: SnippetRequest) {
  const clean = cleanText(params);
  const shown = clean.length > paramsShown ? `${clean.slice(0, paramsShown - 1)}…` : clean;
  return `Snippet ${id} ${shown}`.trimEnd();
}

function isAnswer(error: SnippetFailure): error is SnippetError {
  return error instanceof SnippetError && error.status !== undefined && error.title !== undefined;
}

const failureReason = (error: SnippetFailure) =>
  isAnswer(error) ? `${error.status} ${error.title}` : error.reason;

/** A few snippets with the same fault one by one; many in one paragraph, with examples. */
function groupByCause(
  failed: readonly Failed[],
  placeOf: PlaceOf | undefined,
  tellOne: (one: Failed) => string,
  end = (_many: readonly Failed[]) => '',
) {
  // The same fault has the same status and title.
  const groups = Map.groupBy(
    failed,
    ({ error }) => `${error.code} ${isAnswer(error) && failureReason(error)}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first || group.length <= examplesShown) return group.map(tellOne);
    // They may differ in details, such as the number of attempts.
    const isCommon = group.every(({ error }) => failureReason(error) === failureReason(first.error));
    const examples = group.slice(0, examplesShown).map((one) => {
      const place = `${nameSnippet(one.request)} on ${allPlaces(one, placeOf)}`;
      return isCommon ? place : `${place}: ${failureReason(one.error)}`;
    });
    const reason = (isCommon ? undefined : titles[first.error.code]) ?? failureReason(first.error);
    const lines = [...examples, `and ${count(group.length - examplesShown, 'more snippet')}`];
    return paragraph(count(group.length, 'snippet'), reason, first.error, lines) + end(group);
  });
}

type Lines = readonly (string | undefined)[];

function paragraph(what: string, reason: string, error: SnippetFailure, lines: Lines) {
  const details = isAnswer(error) ? [error.detail, error.type] : [];
  return indented(`${what}: ${reason} [${error.code}]`, ...details, ...lines);
}

const indented = (...lines: Lines) => lines.filter(Boolean).join('\n    ');

/** The first few of each kind: one mistake in a layout may be on every page. */
function describeEmbeds(embeds: readonly InvalidEmbed[], placeOf?: PlaceOf) {
  const kinds = [...Map.groupBy(embeds, ({ code }) => code)];
  const shown = new Set(kinds.flatMap(([, alike]) => alike.slice(0, examplesShown)));
  const described = embeds.flatMap((embed) => {
    const { file, line, code, message } = embed;
    const place = line ? `${file}:${line}` : file;
    return shown.has(embed) ? indented(place, `${message} [${code}]`, placeOf?.(embed)) : [];
  });
  const more = kinds.flatMap(([code, { length }]) => {
    const left = count(length - examplesShown, 'more embed');
    return length > examplesShown ? `${left} with the same error. [${code}]` : [];
  });
  return [...described, ...more];
}
