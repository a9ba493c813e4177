import type { SnippetErrorCode } from '../client/snippet-error.ts';

/** What to do about a failure, for the person who reads the report. */
export const hints: Readonly<Record<SnippetErrorCode, string>> = {
  unauthorized:
    'Check SNIPPETS_API_KEY: the service does not know this key. It may be mistyped, revoked, or missing from the secrets of this environment.',
  'payment-required':
    "The organization's free trial or subscription has ended. Nothing can be fetched until it is renewed on the service's website.",
  forbidden:
    'The key lacks the permission to do this. A public key has limited privileges: use a secret key, or one with permission to render.',
  'not-found':
    'Check the id: there is no such snippet, it is not published, or it belongs to another organization than the key does.',
  'no-route':
    'Nothing answers at this address. Check SNIPPETS_RENDER_BASE_URL and SNIPPETS_RETRIEVE_BASE_URL, their path prefix included.',
  'rate-limited': 'The service asks for fewer requests. Build again later, or set a lower concurrency.',
  'server-error':
    'The service has a fault of its own. Build again later, or give the embed children to show meanwhile.',
  'unexpected-status': 'The service answered with a status that its specification does not list.',
  redirect: 'Set the base address to where the service now is. The key is sent nowhere else.',
  'bad-answer': 'Something between here and the service may be cutting or changing its answers.',
  'no-content': 'Set SNIPPETS_RENDER_BASE_URL, so that snippets are rendered.',
  network: 'Check the base addresses and the network. Behind a proxy, set HTTPS_PROXY.',
  timeout: 'The service is slow or hangs. Build again later, or give the embed children to show meanwhile.',
  certificate:
    'The certificate of the service cannot be verified. For an authority of your own, set the option `ca` or NODE_EXTRA_CA_CERTS.',
  'sanitize-failed': 'Correct the function `sanitize` in the Astro config: it takes HTML and returns HTML.',
  'script-refused':
    "Take the script out of the snippet on the service's website; or set scripts: 'strip', or 'allow' if you trust those who write snippets.",
  'left-open':
    "Close it in the snippet on the service's website. (It is an error, and not a warning, because of strict: true.)",
  'too-large': 'A snippet is a small piece of text. Make it smaller, or split it.',
  unavailable: 'The service is down or overloaded. Build again when it has recovered.',
  'invalid-id': 'Write the id as a positive whole number: <Snippet id={42} /> or <snippet-embed id="42">.',
  'invalid-params': 'Write params as one plain JSON object, such as {"plan":"pro"}.',
  'invalid-options': 'Correct what is set in the Astro config or in the environment.',
  'not-cached':
    'Build once without `offline`, with the same key and addresses, so that the answers are kept.',
  aborted: 'The build was interrupted.',
  closed: 'The build was interrupted.',
};

export const embedHint =
  'An embed is <snippet-embed id="42" params=\'{"plan":"pro"}\'>fallback</snippet-embed>, or <Snippet id={42} params={{ plan: "pro" }} />.';
