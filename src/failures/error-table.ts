import type { SnippetErrorCode } from '../client/snippet-error.ts';

/** Why a snippet that arrived must not be shown, or an embed is invalid. The codes of fetching are the client's. */
export type SiteErrorCode =
  | 'sanitize-failed'
  | 'too-many-tags'
  | 'script-refused'
  | 'left-open'
  | 'embed-unclosed'
  | 'embed-nested'
  | 'embed-in-island'
  | 'embed-in-script'
  | 'embed-in-attribute'
  | 'embed-in-xml'
  | 'embed-lost'
  | 'unrendered-component'
  | 'unknown-attribute'
  | 'invalid-as'
  | 'invalid-optional'
  | 'params-failed'
  | 'not-cached';

/** An error before any snippet is fetched, or of the output as a whole. */
type SetupErrorCode =
  | 'missing-key'
  | 'missing-url'
  | 'unreadable-key-file'
  | 'exposed-key'
  | 'published-key'
  | 'late-embed'
  | 'stale-compressed-file'
  | 'missing-integration'
  | 'duplicate-integration'
  | 'on-demand-page'
  | 'embed-in-browser'
  | 'missing-manifest'
  | 'output-in-use'
  | 'missing-output'
  | 'unusable-output'
  | 'webhook-secret'
  | 'cannot-listen'
  | 'unwritable-file';

/** The code of every error that people see. Codes are permanent: scripts and searches rely on them. */
export type ErrorCode = SnippetErrorCode | SiteErrorCode | SetupErrorCode;

/**
 * The consequence of a failure for a build.
 *
 * - `end`: every request would fail the same way, so no more are made.
 * - `fail`: something has to be fixed. The build fails even if the embed has children.
 * - `children`: the service is in trouble. Embeds show their children, and one without children fails the build.
 */
export type Consequence = 'end' | 'fail' | 'children';

interface ErrorDescription {
  consequence: Consequence;
  /** A sentence without a period, for failures with different reasons, and for `doctor`. */
  title?: string;
  /** The next step for whoever reads the error. */
  hint: string;
}

interface TitledErrorDescription extends ErrorDescription {
  title: string;
}

/** Every error code, with its consequence, title and hint. A new code goes into a union above, and gets a row here. */
export const errorTable: Record<ErrorCode, ErrorDescription> &
  Record<SnippetErrorCode, TitledErrorDescription> = {
  // Every request would fail the same way: the key and Node are the same for all of them.
  unauthorized: {
    consequence: 'end',
    title: 'The API key is not valid',
    hint: 'Check SNIPPETS_API_KEY: the service does not know this key.',
  },
  'payment-required': {
    consequence: 'end',
    title: 'The subscription has expired',
    hint: "The organization's free trial or subscription has expired. Renew it on the service's website.",
  },
  'unsupported-node': {
    consequence: 'end',
    title: 'This version of Node is too old',
    hint: 'Install a newer Node, here and where the site is deployed.',
  },

  // The site, its settings or the snippet has to change.
  forbidden: {
    consequence: 'fail',
    title: 'The API key lacks a permission',
    hint: 'Use a secret key: a public one has limited privileges. If the key may only retrieve, set SNIPPETS_RETRIEVE_BASE_URL alone.',
  },
  'not-found': {
    consequence: 'fail',
    title: 'The snippet does not exist',
    hint: 'Check the id: the snippet does not exist, is not published, or belongs to another organization. The attribute `optional` allows that. If no snippet is found, check the base URLs.',
  },
  'no-route': {
    consequence: 'fail',
    title: 'The base URL is not the URL of the service',
    hint: 'Check SNIPPETS_RENDER_BASE_URL and SNIPPETS_RETRIEVE_BASE_URL, with their path prefix.',
  },
  'unexpected-status': {
    consequence: 'fail',
    title: 'The service answered with an unexpected status',
    hint: 'Check the base URLs, and any proxy on the way.',
  },
  redirect: {
    consequence: 'fail',
    title: 'The service answered with a redirect',
    hint: 'Set the base URL to where the service has moved: redirects are never followed.',
  },
  'no-content': {
    consequence: 'fail',
    title: 'The answer has no content',
    hint: 'Set SNIPPETS_RENDER_BASE_URL, so that snippets are rendered.',
  },
  certificate: {
    consequence: 'fail',
    title: 'The certificate of the service could not be verified',
    hint: 'For your own certificate authority, set the option `ca`, or NODE_EXTRA_CA_CERTS in the environment, not in .env.',
  },
  'too-large': {
    consequence: 'fail',
    title: 'The answer is too large',
    hint: 'Make the snippet smaller, or split it.',
  },
  'invalid-id': {
    consequence: 'fail',
    title: 'The snippet id is invalid',
    hint: 'Write a positive whole number: <Snippet id={42} /> or <snippet-embed id="42">.',
  },
  'invalid-params': {
    consequence: 'fail',
    title: 'The params are invalid',
    hint: 'Write one plain JSON object, such as {"plan":"pro"}.',
  },
  'invalid-options': {
    consequence: 'fail',
    title: 'An option or environment variable is invalid',
    hint: 'Fix it in the config or in the environment.',
  },
  aborted: {
    consequence: 'fail',
    title: 'The request was aborted',
    hint: 'Try again.',
  },
  closed: {
    consequence: 'fail',
    title: 'The client was closed',
    hint: 'Try again.',
  },
  'sanitize-failed': {
    consequence: 'fail',
    title: 'The snippet could not be sanitized',
    hint: 'Fix the option `sanitize`: a function from HTML to HTML.',
  },
  'too-many-tags': {
    consequence: 'fail',
    title: 'The snippet has too many tags',
    hint: 'Split the snippet: it may have 100,000 tags.',
  },
  'script-refused': {
    consequence: 'fail',
    title: 'The snippet contains a script',
    hint: "Remove the script from the snippet, or set scripts: 'strip', or 'allow' if you trust the authors.",
  },
  'left-open': {
    consequence: 'fail',
    title: 'The snippet leaves an element open',
    hint: 'Close the element in the snippet. With strict: false, this is a warning.',
  },
  'embed-unclosed': {
    consequence: 'fail',
    hint: 'End the embed with </snippet-embed>.',
  },
  'embed-nested': {
    consequence: 'fail',
    hint: 'Close the outer embed first. Children are plain HTML.',
  },
  'embed-in-island': {
    consequence: 'fail',
    hint: 'Pass the embed as children: <Box client:load><Snippet id={42} /></Box>.',
  },
  'embed-in-script': {
    consequence: 'fail',
    hint: 'Put the embed into HTML or a data attribute, and let the script read it there.',
  },
  'embed-in-attribute': {
    consequence: 'fail',
    hint: 'Put the embed into a data attribute, and let the code read it there.',
  },
  'embed-in-xml': {
    consequence: 'fail',
    hint: 'Escape the embed, or put it into a CDATA section.',
  },
  'embed-lost': {
    consequence: 'fail',
    hint: 'Look for it in the slot of a server island, in code such as <pre>, in an excluded file, and in a component that discards its children. Sanitizers have to let `snippet-embed` through.',
  },
  'unrendered-component': {
    consequence: 'fail',
    hint: 'In a .md file, write <snippet-embed id="42"></snippet-embed>, or rename it to .mdx. In <title> and <textarea>, Astro before 7 needs <snippet-embed>, too. Put an example between backticks.',
  },
  'unknown-attribute': {
    consequence: 'fail',
    hint: 'An embed takes `id`, `params`, `as` and `optional`; `<Snippet>` takes `of` as well.',
  },
  'invalid-as': {
    consequence: 'fail',
    hint: 'Use as="html" or as="text".',
  },
  'invalid-optional': {
    consequence: 'fail',
    hint: 'Write <Snippet id={42} optional> or <snippet-embed id="42" optional>.',
  },
  'params-failed': {
    consequence: 'fail',
    hint: 'Fix the option `params`: a function from { page, lang } to one plain JSON object.',
  },

  // The service may recover by itself.
  'rate-limited': {
    consequence: 'children',
    title: 'The service asks for fewer requests',
    hint: 'Try again later, or set a lower `concurrency`.',
  },
  'server-error': {
    consequence: 'children',
    title: 'The service has an internal error',
    hint: 'Try again later, or give the embed children to show.',
  },
  'bad-answer': {
    consequence: 'children',
    title: 'The answer is incomplete or malformed',
    hint: 'A proxy on the way may cut off or change answers.',
  },
  network: {
    consequence: 'children',
    title: 'The service could not be reached',
    hint: 'Check the base URLs and the network. Behind a proxy, set HTTPS_PROXY.',
  },
  timeout: {
    consequence: 'children',
    title: 'The service took too long',
    hint: 'Try again later, or give the embed children to show.',
  },
  unavailable: {
    consequence: 'children',
    title: 'The service is down',
    hint: 'Try again later, or give the embed children to show. If nothing answers at all, check the base URLs and the network.',
  },
  'not-cached': {
    consequence: 'children',
    title: 'The snippet is not in the cache',
    hint: 'Build once, or view the page in `astro dev`, without `offline` and with the same key and base URLs.',
  },

  // No single snippet is to blame.
  'missing-key': {
    consequence: 'end',
    hint: 'Set SNIPPETS_API_KEY in the environment, or in a .env file that is not committed.',
  },
  'missing-url': {
    consequence: 'end',
    hint: 'Set SNIPPETS_RENDER_BASE_URL, SNIPPETS_RETRIEVE_BASE_URL or both, in the environment or as options.',
  },
  'unreadable-key-file': {
    consequence: 'end',
    hint: 'Write the API key to that file, or set SNIPPETS_API_KEY instead.',
  },
  'exposed-key': {
    consequence: 'end',
    hint: 'Browsers can read PUBLIC_ variables: set only SNIPPETS_API_KEY, and replace a key that was published.',
  },
  'published-key': {
    consequence: 'end',
    hint: 'Find out how the key got there (a PUBLIC_ variable, a snippet, a value printed into a page), and replace it.',
  },
  'late-embed': {
    consequence: 'end',
    hint: 'List the other integration before snippets() in the Astro config, and have it write the file in `astro:build:generated`.',
  },
  'stale-compressed-file': {
    consequence: 'end',
    hint: 'Servers send it instead of the page: compress files in `astro:build:done`, or after the build.',
  },
  'missing-integration': {
    consequence: 'end',
    hint: 'Add snippets() to the integrations of the Astro config.',
  },
  'duplicate-integration': {
    consequence: 'end',
    hint: 'Keep one snippets() in the Astro config. A preset or a theme may add another one.',
  },
  'on-demand-page': {
    consequence: 'end',
    hint: 'Prerender the page with `export const prerender = true`, or fetch the snippet with `SnippetClient` from `astro-snippets/client`. In MDX for a feed, write `<snippet-embed>`.',
  },
  'embed-in-browser': {
    consequence: 'end',
    hint: 'Pass the embed to an island as children: <Box client:load><Snippet id={42} /></Box>. For a script, write it into a <template>.',
  },
  'missing-manifest': {
    consequence: 'end',
    hint: 'Build the site in this folder, or run `astro-snippets inline` on it, with this version. If you set a cacheDir, pass --manifest.',
  },
  'output-in-use': {
    consequence: 'end',
    hint: 'Wait for the other process, or delete the lock file if there is none. Two builds at once need an outDir each.',
  },
  'missing-output': {
    consequence: 'end',
    hint: 'Pass the folder of the built site, or no --output if it was not moved.',
  },
  'unusable-output': {
    consequence: 'end',
    hint: 'Pass a folder that is neither inside the input nor around it, and run the command above both.',
  },
  'webhook-secret': {
    consequence: 'end',
    hint: 'Set SNIPPETS_WEBHOOK_SECRET to the secret of the sender, at least 16 characters. `echo "whsec_$(openssl rand -base64 32)"` makes one.',
  },
  'cannot-listen': {
    consequence: 'end',
    hint: 'EADDRINUSE: the port is in use. EACCES: this user may not use it. EADDRNOTAVAIL, ENOTFOUND: the host is not this machine.',
  },
  'unwritable-file': {
    consequence: 'end',
    hint: 'Free disk space or fix permissions, then build again.',
  },
};

/** The consequence of a snippet's error for a build. */
export const consequenceOf = ({ code }: { code: ErrorCode }): Consequence => errorTable[code].consequence;
