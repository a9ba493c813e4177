import type { EndingCode, SnippetErrorCode } from '../client/snippet-error.ts';

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

const hintsOfSnippets: {
  'rate-limited': string;
  'server-error': string;
  'bad-answer': string;
  network: string;
  timeout: string;
  unavailable: string;
  'not-cached': string;
  forbidden: string;
  'not-found': string;
  'no-route': string;
  'unexpected-status': string;
  redirect: string;
  'no-content': string;
  certificate: string;
  'too-large': string;
  'invalid-id': string;
  'invalid-params': string;
  'invalid-options': string;
  aborted: string;
  closed: string;
  'sanitize-failed': string;
  'too-many-tags': string;
  'script-refused': string;
  'left-open': string;
  'embed-unclosed': string;
  'embed-nested': string;
  'embed-in-island': string;
  'embed-in-script': string;
  'embed-in-attribute': string;
  'embed-in-xml': string;
  'embed-lost': string;
  'unrendered-component': string;
  'unknown-attribute': string;
  'invalid-as': string;
  'invalid-optional': string;
  'params-failed': string;
  unauthorized: string;
  'payment-required': string;
  'unsupported-node': string;
} = { ...fatalErrors, ...snippetErrors, ...outageErrors } satisfies Record<SnippetErrorCode, string>;

export const hints: {
  'missing-key': string;
  'missing-url': string;
  'unreadable-key-file': string;
  'exposed-key': string;
  'published-key': string;
  'late-embed': string;
  'stale-compressed-file': string;
  'missing-integration': string;
  'duplicate-integration': string;
  'on-demand-page': string;
  'embed-in-browser': string;
  'missing-manifest': string;
  'output-in-use': string;
  'missing-output': string;
  'unusable-output': string;
  'webhook-secret': string;
  'cannot-listen': string;
  'unwritable-file': string;
  'rate-limited': string;
  'server-error': string;
  'bad-answer': string;
  network: string;
  timeout: string;
  unavailable: string;
  'not-cached': string;
  forbidden: string;
  'not-found': string;
  'no-route': string;
  'unexpected-status': string;
  redirect: string;
  'no-content': string;
  certificate: string;
  'too-large': string;
  'invalid-id': string;
  'invalid-params': string;
  'invalid-options': string;
  aborted: string;
  closed: string;
  'sanitize-failed': string;
  'too-many-tags': string;
  'script-refused': string;
  'left-open': string;
  'embed-unclosed': string;
  'embed-nested': string;
  'embed-in-island': string;
  'embed-in-script': string;
  'embed-in-attribute': string;
  'embed-in-xml': string;
  'embed-lost': string;
  'unrendered-component': string;
  'unknown-attribute': string;
  'invalid-as': string;
  'invalid-optional': string;
  'params-failed': string;
  unauthorized: string;
  'payment-required': string;
  'unsupported-node': string;
} = { ...hintsOfSnippets, ...setupErrors };

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

export function consequenceOf({ code }: { code: ErrorCode }): 'fail' | 'children' | 'end' {
  if (code in snippetErrors) return 'fail';
  return code in outageErrors ? 'children' : 'end';
}
