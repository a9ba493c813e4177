import type { SnippetErrorCode } from '../client/snippet-error.ts';

/** The texts of an error code that are the same wherever the error occurs. */
interface ErrorText {
  /** A sentence without a period, to head a group of failures with different reasons, and for `doctor`. */
  title?: string;
  /** The next step for whoever reads the error. */
  hint: string;
}

/** Errors of snippets that arrived and must not be shown, and of embeds that are invalid. */
const siteErrors = {
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
  'embed-unclosed': { hint: 'End the embed with </snippet-embed>.' },
  'embed-nested': { hint: 'Close the outer embed first. Children are plain HTML.' },
  'embed-in-island': { hint: 'Pass the embed as children: <Box client:load><Snippet id={42} /></Box>.' },
  'embed-in-script': {
    hint: 'Put the embed into HTML or a data attribute, and let the script read it there.',
  },
  'embed-in-attribute': { hint: 'Put the embed into a data attribute, and let the code read it there.' },
  'embed-in-format': {
    hint: 'Put the content into the file with your own code: `(await getEntry("snippets", 42)).data.text` of a collection, escaped as the format needs. If it is an example, name the file in the option exclude.',
  },
  'embed-lost': {
    hint: 'Look for it in the slot of a server island, in code such as <pre>, in an excluded file, and in a component that discards its children. Sanitizers have to let `snippet-embed` through.',
  },
  'unrendered-component': {
    hint: 'In a .md file, write <snippet-embed id="42"></snippet-embed>, or rename it to .mdx. In <title> and <textarea>, Astro before 7 needs <snippet-embed>, too. Put an example between backticks.',
  },
  'unknown-attribute': {
    hint: 'An embed takes `id`, `params`, `as` and `optional`; `<Snippet>` takes `of` as well. Any other attribute belongs on an element around it.',
  },
  'invalid-as': { hint: 'Use as="html" or as="text".' },
  'invalid-optional': { hint: 'Write <Snippet id={42} optional> or <snippet-embed id="42" optional>.' },
  'params-failed': {
    hint: 'Fix the option `params`: a function from { page, lang } to one plain JSON object.',
  },
};

/** Errors that no single snippet causes: in the settings, the output, the build's record or a command. */
const setupErrors = {
  'missing-key': {
    hint: 'Set SNIPPETS_API_KEY in the environment, or in a .env file that is not committed.',
  },
  'missing-url': {
    hint: 'Set SNIPPETS_RENDER_BASE_URL, SNIPPETS_RETRIEVE_BASE_URL or both, in the environment or as options.',
  },
  'unreadable-key-file': { hint: 'Write the API key to that file, or set SNIPPETS_API_KEY instead.' },
  'exposed-key': {
    hint: 'Browsers can read PUBLIC_ variables: set only SNIPPETS_API_KEY, and replace a key that was published.',
  },
  'published-key': {
    hint: 'Find out how the key got there (a PUBLIC_ variable, a snippet, a value printed into a page), and replace it.',
  },
  'late-embed': {
    hint: 'List the other integration before snippets() in the Astro config, and have it write the file in `astro:build:generated`.',
  },
  'stale-compressed-file': {
    hint: 'Servers send it instead of the page: compress files in `astro:build:done`, or after the build.',
  },
  'unsupported-astro': {
    hint: 'Use Astro 6 or later, or set `experimental.liveContentCollections` in the config of Astro 5.10 or later. Otherwise fetch the snippet with `SnippetClient` from `astro-snippets/client`.',
  },
  'missing-integration': { hint: 'Add snippets() to the integrations of the Astro config.' },
  'duplicate-integration': {
    hint: 'Keep one snippets() in the Astro config. A preset or a theme may add another one.',
  },
  'on-demand-page': {
    hint: 'Prerender the page with `export const prerender = true`, or show the snippet through `liveSnippetLoader` from `astro-snippets/live`. In a layout that prerendered pages share, write `{Astro.isPrerendered && <Snippet id={42} />}`. In MDX for a feed, write `<snippet-embed>`.',
  },
  'embed-in-browser': {
    hint: 'Pass the embed to an island as children: <Box client:load><Snippet id={42} /></Box>. For a script, write it into a <template>.',
  },
  'missing-manifest': {
    hint: 'Build the site in this folder, or run `astro-snippets inline` on it, with this version. With a cacheDir of your own, --manifest has to name the record.',
  },
  'output-in-use': {
    hint: 'Wait for the other process, or delete the lock file if there is none. Two builds at once need an outDir each.',
  },
  'missing-output': { hint: 'Pass the folder of the built site, or no --output if it was not moved.' },
  'unusable-output': {
    hint: 'Pass a folder that is neither inside the input nor around it, and run the command above both.',
  },
  'webhook-secret': {
    hint: 'Set SNIPPETS_WEBHOOK_SECRET to the secret of the sender, at least 16 characters. `echo "whsec_$(openssl rand -base64 32)"` makes one.',
  },
  'cannot-listen': {
    hint: 'EADDRINUSE: the port is in use. EACCES: this user may not use it. EADDRNOTAVAIL, ENOTFOUND: the host is not this machine.',
  },
  'unwritable-file': { hint: 'Free disk space or fix permissions, then build again.' },
};

/** The codes of errors about one snippet or embed, except those of fetching, which the client defines. */
export type SiteErrorCode = keyof typeof siteErrors | 'not-cached';

/** The code of every error that people see. Codes never change, as scripts and searches rely on them. */
export type ErrorCode = SnippetErrorCode | SiteErrorCode | keyof typeof setupErrors;

/**
 * The consequence of a failure for a build.
 *
 * - `end`: every request would fail the same way, so no more are made.
 * - `fail`: a person has to fix something, so the build fails even if the embed has children.
 * - `children`: the service is in trouble. Embeds show their children, and one without fails the build.
 */
export type Consequence = 'end' | 'fail' | 'children';

interface ErrorDescription extends ErrorText {
  consequence: Consequence;
}

/** Every error code, with its consequence, title and hint. Every error of the client must have a title. */
export const errorTable: Record<ErrorCode, ErrorDescription> &
  Record<SnippetErrorCode, Required<ErrorDescription>> = {
  // Every request would fail the same way, as all use one key and one Node, so the run ends.
  ...withConsequence('end', {
    unauthorized: {
      title: 'The API key is not valid',
      hint: 'Check SNIPPETS_API_KEY: the service does not know this key.',
    },
    'payment-required': {
      title: 'The subscription has expired',
      hint: "The organization's free trial or subscription has expired. Renew it on the service's website.",
    },
    'internal-error': {
      title: 'Code failed, not the service',
      hint: 'If a module is missing, install the packages again, here and where the site is deployed. Otherwise report it, with the versions of astro-snippets and of Node, Bun or Deno.',
    },
    'unsupported-node': {
      title: 'This version of Node is too old',
      hint: 'Install a newer Node, here and where the site is deployed.',
    },
  }),

  // The site, its settings or the snippet has to change, so the build fails even if embeds have children.
  ...withConsequence('fail', {
    forbidden: {
      title: 'The API key lacks a permission',
      hint: 'Use a secret key: a public one has limited privileges. If the key may only retrieve, set SNIPPETS_RETRIEVE_BASE_URL alone.',
    },
    'not-found': {
      title: 'The snippet does not exist',
      hint: 'Check the id: the snippet does not exist, is not published, or belongs to another organization. The attribute `optional` allows that. If no snippet is found, check the base URLs.',
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
      hint: 'For an authority of your own, set SNIPPETS_CA_FILE to the file of its certificate. Otherwise, the certificate has to be for the host of the base URL, and must not have expired.',
    },
    'too-large': { title: 'The answer is too large', hint: 'Make the snippet smaller, or split it.' },
    'invalid-id': {
      title: 'The snippet id is invalid',
      hint: 'Write a positive whole number: <Snippet id={42} /> or <snippet-embed id="42">.',
    },
    'invalid-params': {
      title: 'The params are invalid',
      hint: 'Fix the params as the message says. They are one object: in {"plan":"pro"}, `params.plan` is "pro".',
    },
    'invalid-options': {
      title: 'An option or environment variable is invalid',
      hint: 'Fix it in the config or in the environment.',
    },
    aborted: { title: 'The request was aborted', hint: 'Try again.' },
    closed: { title: 'The client was closed', hint: 'Try again.' },
  }),
  ...withConsequence('fail', siteErrors),

  // The service may recover by itself, so embeds show their children.
  ...withConsequence('children', {
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
      hint: 'A proxy on the way may cut off or change answers, or a cache answer with another snippet.',
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
      hint: 'Try again later, or give the embed children to show. If nothing answers at all, check the base URLs and the network.',
    },
    'not-cached': {
      title: 'The snippet is not in the cache',
      hint: 'Build once, or view the page in `astro dev`, without `offline` and with the same key and base URLs.',
    },
  }),

  ...withConsequence('end', setupErrors),
};

function withConsequence<Code extends ErrorCode, Row extends ErrorText>(
  consequence: Consequence,
  rows: Record<Code, Row>,
) {
  const described = Object.entries<Row>(rows).map(([code, row]) => [code, { consequence, ...row }]);
  return Object.fromEntries(described) as Record<Code, Row & ErrorDescription>;
}

/** The consequence of a snippet's error for a build. */
export const consequenceOf = ({ code }: { code: ErrorCode }): Consequence => errorTable[code].consequence;
