import { timerLength, unlessAborted } from '../clock.ts';
import { initialConcurrency } from '../limits.ts';
import { SnippetError } from '../snippet-error.ts';
import { environmentVariable, findProxy } from './environment.ts';
import { Exchange } from './exchange.ts';
import { silenceError, tooLargeError, toTransportError } from './network-errors.ts';
import { type Transport, TransportError, type TransportOptions } from './transport.ts';

/**
 * Makes a transport over the platform's `fetch`, for every platform but Node: workers, Bun and Deno. The platform has
 * the connections, so a request that takes long to connect counts as one without an answer.
 *
 * @throws SnippetError `invalid-options` if a certificate authority or proxy is set that `fetch` would ignore, or
 * if the platform would not verify certificates.
 */
export function fetchTransport(options: TransportOptions): Transport {
  const { limits } = options;
  refuseWhatFetchLacks(options);
  const closed = new AbortController();

  return {
    async send(request, signal) {
      // Code may change the environment at any time, and Bun reads it for each connection.
      refuseUnverified();
      const exchange = new Exchange(request, options, [signal, closed.signal]);
      const { server, headers, signal: ended } = exchange;
      const endSilent = () => exchange.end(silenceError(limits, server));
      const startIdleTimer = () => setTimeout(endSilent, timerLength(limits.idleTimeout));
      let idleTimer = startIdleTimer();

      /** Waits for the platform. What is thrown anywhere else is an error of code. */
      const wait = async <T>(work: Promise<T>): Promise<T> => {
        try {
          const result = await unlessAborted(ended, work);
          clearTimeout(idleTimer);
          idleTimer = startIdleTimer();
          return result;
        } catch (error) {
          ended.throwIfAborted();
          throw toTransportError(error, limits, server);
        }
      };

      try {
        const init = { headers, redirect: 'manual', signal: ended } as const;
        const response = await wait(fetch(new Request(request.url, init)));
        const reader = response.body?.getReader();
        const chunks: Uint8Array<ArrayBuffer>[] = [];
        for (let length = 0; reader; ) {
          const { value, done } = await wait(reader.read());
          if (done) break;
          chunks.push(value);
          length += value.byteLength;
          if (length <= limits.bodyBytes) continue;
          exchange.end(tooLargeError(limits));
          ended.throwIfAborted();
        }
        const header = (name: string) => firstValue(response.headers.get(name) ?? undefined);
        const body = new Uint8Array(await new Blob(chunks).arrayBuffer());
        return exchange.toResponse(response.status, header, body);
      } finally {
        exchange.close();
        clearTimeout(idleTimer);
      }
    },

    capacity: initialConcurrency,
    isolatesCalls: globalThis.navigator?.userAgent === 'Cloudflare-Workers',

    async close() {
      closed.abort(new TransportError('network', 'the connection was closed'));
    },
  };
}

/** There is nothing to load before the first request: the platform has `fetch`. */
const loadNothing = async (): Promise<void> => {};

export { fetchTransport as createTransport, loadNothing as preloadTransport };

/**
 * The first value of a header. `fetch` joins those that were sent several times with commas. A date has a comma
 * after its day, and an `ETag` may have any within its quotation marks.
 */
const firstValue = (value: string | undefined) =>
  value && /^(?:[A-Za-z]+, [^,]*|(?:W\/)?"[^"]*"|[^,]*)/.exec(value)?.[0];

function refuseWhatFetchLacks({ ca }: TransportOptions) {
  refuseUnverified();
  if (ca !== undefined) {
    throw unsupported(
      'certificates of your own (the option ca, SNIPPETS_CA_FILE)',
      'Set NODE_EXTRA_CA_CERTS (in Deno, DENO_CERT) instead, or use Node.',
    );
  }
  const proxy = findProxy();
  const readsProxy = 'Bun' in globalThis || 'Deno' in globalThis;
  if (proxy && !readsProxy) throw unsupported(`a proxy (${proxy.name})`, 'Unset it, or use Node.');
}

const unsupported = (what: string, hint: string) =>
  new SnippetError(
    'invalid-options',
    `Here, requests are made with fetch, which does not take ${what}. ${hint}`,
  );

/** With this variable, Bun and Deno would send the key to a server whose certificate they did not verify. */
function refuseUnverified() {
  if (environmentVariable('NODE_TLS_REJECT_UNAUTHORIZED') !== '0') return;
  const reason =
    'NODE_TLS_REJECT_UNAUTHORIZED=0 keeps certificates from being verified. Unset it: the API key would be sent to any server.';
  throw new SnippetError('invalid-options', reason);
}
