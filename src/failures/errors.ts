import { cleanLines } from '../client/clean-text.ts';
import { type EndingCode, SnippetError, type SnippetErrorCode } from '../client/snippet-error.ts';

/** A title is a sentence without a period. A hint says what to do next. */
type Entries<Code extends string = string> = Record<Code, { title: string; hint: string }>;

// A new error belongs into the table of its effect. The compiler and tests ask for what else it needs. Codes are permanent.

/** Every request would fail the same way, so no more are made. */
const ending = {
  unauthorized: {
    title: 'The API key is not valid',
    hint: 'Check SNIPPETS_API_KEY: the service does not know this key.',
  },
  'payment-required': {
    title: 'The subscription has expired',
    hint: "The organization's free trial or subscription has expired. Renew it on the service's website.",
  },
  'unsupported-node': {
    title: 'This version of Node is too old',
    hint: 'Install a newer Node, here and where the site is deployed.',
  },
} as const satisfies Entries<EndingCode | 'unsupported-node'>;

/** Something has to be fixed. The build fails even if the embed has children. */
const failing = {
  forbidden: {
    title: 'The API key lacks a permission',
    hint: 'Use a secret key: a public one has limited privileges. If the key may only retrieve, set SNIPPETS_RETRIEVE_BASE_URL alone.',
  },
  'not-found': {
    title: 'The snippet does not exist',
    hint: 'Check the id: the snippet does not exist, is not published, or belongs to another organization. The attribute `optional` allows that.',
  },
  'no-route': {
    title: 'The base URL is not the URL of the service',
    hint: 'Check SNIPPETS_RENDER_BASE_URL and SNIPPETS_RETRIEVE_BASE_URL, with their path prefix.',
  },
  'unexpected-status': {
    title: 'The service answered with an unexpected status',
    hint: 'Check the base URLs, and any proxy on the way.',
  },
  redirect: {
    title: 'The service answered with a redirect',
    hint: 'Set the base URL to where the service has moved: redirects are never followed.',
  },
  'no-content': {
    title: 'The answer has no content',
    hint: 'Set SNIPPETS_RENDER_BASE_URL, so that snippets are rendered.',
  },
  certificate: {
    title: 'The certificate of the service could not be verified',
    hint: 'For your own certificate authority, set the option `ca`, or NODE_EXTRA_CA_CERTS in the environment, not in .env.',
  },
  'too-large': {
    title: 'The answer is too large',
    hint: 'Make the snippet smaller, or split it.',
  },
  'invalid-id': {
    title: 'The snippet id is invalid',
    hint: 'Write a positive whole number: <Snippet id={42} /> or <snippet-embed id="42">.',
  },
  'invalid-params': {
    title: 'The params are invalid',
    hint: 'Write one plain JSON object, such as {"plan":"pro"}.',
  },
  'invalid-options': {
    title: 'An option or environment variable is invalid',
    hint: 'Fix it in the config or in the environment.',
  },
  aborted: {
    title: 'The request was aborted',
    hint: 'Try again.',
  },
  closed: {
    title: 'The client was closed',
    hint: 'Try again.',
  },
  'sanitize-failed': {
    title: 'The snippet could not be sanitized',
    hint: 'Fix the option `sanitize`: a function from HTML to HTML.',
  },
  'too-many-tags': {
    title: 'The snippet has too many tags',
    hint: 'Split the snippet: it may have 100,000 tags.',
  },
  'script-refused': {
    title: 'The snippet contains a script',
    hint: "Remove the script from the snippet, or set scripts: 'strip', or 'allow' if you trust the authors.",
  },
  'left-open': {
    title: 'The snippet leaves an element open',
    hint: 'Close the element in the snippet. With strict: false, this is a warning.',
  },
  'embed-unclosed': {
    title: 'An embed has no end tag',
    hint: 'End the embed with </snippet-embed>.',
  },
  'embed-nested': {
    title: 'An embed is inside another embed',
    hint: 'Close the outer embed first. Children are plain HTML.',
  },
  'embed-in-island': {
    title: "An embed is in an island's own markup",
    hint: 'Pass the embed as children: <Box client:load><Snippet id={42} /></Box>.',
  },
  'embed-in-script': {
    title: 'An embed is in a script or a style sheet',
    hint: 'Put the embed into HTML or a data attribute, and let the script read it there.',
  },
  'embed-in-attribute': {
    title: 'An embed is in an attribute that contains code',
    hint: 'Put the embed into a data attribute, and let the code read it there.',
  },
  'embed-in-xml': {
    title: 'An embed is an element of XML',
    hint: 'Escape the embed, or put it into a CDATA section.',
  },
  'embed-lost': {
    title: 'A snippet was rendered, but is not in the output',
    hint: 'Look for it in the slot of a server island, in code such as <pre>, in an excluded file, and in a component that discards its children. Sanitizers have to let `snippet-embed` through.',
  },
  'unrendered-component': {
    title: '<Snippet> was not rendered',
    hint: 'In a .md file, write <snippet-embed id="42"></snippet-embed>, or rename it to .mdx. In <title> and <textarea>, Astro before 7 needs <snippet-embed>, too. Put an example between backticks.',
  },
  'unknown-attribute': {
    title: 'An embed has an unknown attribute',
    hint: 'An embed takes `id`, `params`, `as` and `optional`; `<Snippet>` takes `of` as well.',
  },
  'invalid-as': {
    title: 'The attribute `as` is invalid',
    hint: 'Use as="html" or as="text".',
  },
  'invalid-optional': {
    title: 'The attribute `optional` is invalid',
    hint: 'Write <Snippet id={42} optional> or <snippet-embed id="42" optional>.',
  },
  'params-failed': {
    title: 'The option `params` failed',
    hint: 'Fix the option `params`: a function from { page, lang } to one plain JSON object.',
  },
} as const satisfies Entries;

/** The service is in trouble. Embeds show their children; one without children fails the build. */
const inTrouble = {
  'rate-limited': {
    title: 'The service asks for fewer requests',
    hint: 'Try again later, or set a lower `concurrency`.',
  },
  'server-error': {
    title: 'The service has an internal error',
    hint: 'Try again later, or give the embed children to show.',
  },
  'bad-answer': {
    title: 'The answer is incomplete or malformed',
    hint: 'A proxy on the way may cut off or change answers.',
  },
  network: {
    title: 'The service could not be reached',
    hint: 'Check the base URLs and the network. Behind a proxy, set HTTPS_PROXY.',
  },
  timeout: {
    title: 'The service took too long',
    hint: 'Try again later, or give the embed children to show.',
  },
  unavailable: {
    title: 'The service is down',
    hint: 'Try again later. If nothing answers at all, check the base URLs and the network.',
  },
  'not-cached': {
    title: 'The snippet is not in the cache',
    hint: 'Build once, or view the page in `astro dev`, without `offline` and with the same key and base URLs.',
  },
} as const satisfies Entries;

/**
 * What goes wrong before any snippet is fetched, or with the output as a whole: nothing else could succeed. Only what to
 * do next: the messages say what happened.
 */
const setup = {
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
} as const satisfies Record<string, string>;

/** What goes wrong with snippets. */
export const errors = { ...ending, ...failing, ...inTrouble } satisfies Entries<SnippetErrorCode>;

/** What goes wrong with a snippet besides fetching it. */
export type SiteErrorCode = Exclude<keyof typeof errors, SnippetErrorCode>;
export type ErrorCode = keyof typeof errors | keyof typeof setup;

/** What to do next, by the codes of all errors. */
export const hints: Readonly<Record<ErrorCode, string>> = Object.assign(
  { ...setup },
  ...Object.entries(errors).map(([code, { hint }]) => ({ [code]: hint })),
);

/** A snippet that arrived but must not be shown, or an embed that is invalid. */
export class SiteError extends Error {
  override readonly name = 'SiteError';
  readonly code: SiteErrorCode;
  /** Without the part that names the snippet. */
  readonly reason: string;

  constructor(code: SiteErrorCode, reason: string, snippetId?: number) {
    const clean = cleanLines(reason);
    super(snippetId === undefined ? clean : `Snippet ${snippetId} ${clean}`);
    this.code = code;
    this.reason = clean;
  }
}

/** Why a snippet is not shown. */
export type SnippetFailure = SnippetError | SiteError;

export function isSnippetFailure(error: unknown): error is SnippetFailure {
  return error instanceof SnippetError || error instanceof SiteError;
}

export function effectOf({ code }: { code: ErrorCode }): 'end' | 'fail' | 'children' {
  if (code in failing) return 'fail';
  return code in inTrouble ? 'children' : 'end';
}

/**
 * An error for people: Astro prints its name, message and hint, and the command line does too. Astro recognizes its errors
 * by `type`; its class is not imported, as the command line and the client work without Astro.
 */
export class UserError extends Error {
  readonly type = 'AstroUserError';
  readonly hint: string;
  /** `undefined` for a report on several failures, each of which shows its own code. */
  readonly code: ErrorCode | undefined;
  readonly codes: readonly ErrorCode[];

  constructor(message: string, hint: string, codes: ErrorCode | readonly ErrorCode[]) {
    super(cleanLines(message));
    this.hint = cleanLines(hint);
    this.code = typeof codes === 'string' ? codes : undefined;
    this.codes = typeof codes === 'string' ? [codes] : codes;
    this.name = this.code === undefined ? 'astro-snippets' : `astro-snippets/${this.code}`;
    // It only says where in this package the error was created, which does not help the people who read it.
    this.stack = '';
  }
}

/** @param hint what to do next, if the table of errors does not say it best. */
export function userError(code: ErrorCode, message: string, hint: string = hints[code]): UserError {
  return new UserError(message, hint, code);
}
