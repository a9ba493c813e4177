import { cleanLines } from '../client/clean-text.ts';
import { type EndingCode, SnippetError, type SnippetErrorCode } from '../client/snippet-error.ts';

// What to do next, by the codes of errors, which are permanent. A new one belongs into the table of its effect. The compiler
// and tests ask for what else it needs.

/** Every request would fail the same way, so no more are made. */
const ending = {
  unauthorized: 'Check SNIPPETS_API_KEY: the service does not know this key.',
  'payment-required':
    "The organization's free trial or subscription has expired. Renew it on the service's website.",
  'unsupported-node': 'Install a newer Node, here and where the site is deployed.',
} as const satisfies Record<EndingCode | 'unsupported-node', string>;

/** Something has to be fixed: the build fails even if the embed has children. */
const failing = {
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
} as const satisfies Record<string, string>;

/** The service is in trouble: embeds show their children, and one without children fails the build. */
const inTrouble = {
  'rate-limited': 'Try again later, or set a lower `concurrency`.',
  'server-error': 'Try again later, or give the embed children to show.',
  'bad-answer': 'A proxy on the way may cut off or change answers.',
  network: 'Check the base URLs and the network. Behind a proxy, set HTTPS_PROXY.',
  timeout: 'Try again later, or give the embed children to show.',
  unavailable:
    'Try again later, or give the embed children to show. If nothing answers at all, check the base URLs and the network.',
  'not-cached':
    'Build once, or view the page in `astro dev`, without `offline` and with the same key and base URLs.',
} as const satisfies Record<string, string>;

/** It is wrong before any snippet is fetched, or of the output as a whole. */
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

const ofSnippets = { ...ending, ...failing, ...inTrouble } satisfies Record<SnippetErrorCode, string>;

export const hints = { ...ofSnippets, ...setup };

/** What goes wrong with a snippet besides fetching it. */
export type SiteErrorCode = Exclude<keyof typeof ofSnippets, SnippetErrorCode>;
export type ErrorCode = keyof typeof hints;

/** What several failures with different reasons have in common, and what `doctor` finds: sentences without a period. */
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

/** Of a snippet that arrived but must not be shown, or of an embed that is invalid. */
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

export type SnippetFailure = SnippetError | SiteError;

export function isSnippetFailure(error: unknown): error is SnippetFailure {
  return error instanceof SnippetError || error instanceof SiteError;
}

export function effectOf({ code }: { code: ErrorCode }): 'end' | 'fail' | 'children' {
  if (code in failing) return 'fail';
  return code in inTrouble ? 'children' : 'end';
}

/** An error for people, with a hint. Astro recognizes it by `type`: its own class is not imported, as not all users have Astro. */
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
    this.codes = typeof codes === 'string' ? [codes] : codes;
    this.name = this.code === undefined ? 'astro-snippets' : `astro-snippets/${this.code}`;
    // It would only say where in this package the error was made.
    this.stack = '';
  }
}

/** @param hint what to do next, if the table says it less well. */
export function userError(code: ErrorCode, message: string, hint: string = hints[code]): UserError {
  return new UserError(message, hint, code);
}
