import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { protectKey } from '../client/api-key.ts';
import type { Clock } from '../client/clock.ts';
import { userError } from '../failures/errors.ts';
import { type EnvironmentFiles, readEnvironment, variables } from '../settings/environment.ts';
import type { CliContext } from './context.ts';
import { isLoopback, type ListenAddress } from './listen-address.ts';

/**
 * Reads the secret that calls are signed with, and keeps it out of all output.
 *
 * @returns what verifies the signature and the time of a call.
 * @throws AstroError if there is none, or one of no use. It is not shown.
 */
export async function readWebhookSecret(context: CliContext, files: EnvironmentFiles): Promise<Webhook> {
  const { [variables.webhookSecret]: secret } = await readEnvironment(files, context);
  const key = signingKey(secret);
  if (typeof key === 'string') throw userError('webhook-secret', `${variables.webhookSecret} ${key}.`);
  // With or without the prefix.
  protectKey(secret?.replace(/^whsec_/, '') ?? '');
  return new Webhook(key, { format: 'raw' });
}

const prefix = 'whsec_';
const shortestSecret = 16;

/**
 * The key that calls are signed with: what is encoded in a secret of the form `whsec_` + base64, as Standard Webhooks
 * writes them; any other secret as it is.
 *
 * @returns if the secret is of no use, what is wrong with it, as the end of a sentence that does not show it.
 */
export function signingKey(secret: string | undefined): Buffer | string {
  if (!secret) return 'is not set';
  if (!/^[!-~]+$/.test(secret)) return 'contains white space, a control character or a non-ASCII character';
  if (secret.length < shortestSecret) return `has fewer than ${shortestSecret} characters`;
  if (!secret.startsWith(prefix)) return Buffer.from(secret);
  const encoded = secret.slice(prefix.length);
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return `has something else than base64 after ${prefix}`;
  const key = Buffer.from(encoded, 'base64');
  return key.length < shortestSecret ? `has fewer than ${shortestSecret} bytes after ${prefix}` : key;
}

export interface ListenOptions {
  address: ListenAddress;
  webhook: Pick<Webhook, 'verify'>;
  /** Called for each call that is accepted. */
  onCall(): void;
  log(line: string): void;
  /** How long the headers and the body of a call may take to arrive, in milliseconds. @default 10,000 */
  patience?: number;
}

export interface Listener {
  /** Where calls are accepted. */
  url: string;
  /** Ends all connections. May be called again. */
  close(): void;
}

const mostConnections = 50;

/** In bytes. The payload of an event takes less than 1 KiB. */
const longestBody = 64 * 1024;

/**
 * Accepts signed calls over HTTP. Answers have no body and contain nothing of the request.
 *
 * @throws AstroError if it cannot listen at this host and port.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { address, webhook, onCall, log, patience = 10_000 } = options;
  const accepted = summarized(log);
  const refused = summarized(log);
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // One that the client ends early. Without a listener, it would end the process.
    response.on('error', () => {});
    try {
      const { status, reason } = await judge(request, response, webhook);
      if (status === 405) response.setHeader('allow', 'POST');
      // Calls are rare, and connections are few.
      response.writeHead(status, { 'content-length': 0, connection: 'close' }).end();
      if (status !== 202) return refused.add(`A call was refused: ${reason} (${status})`);
      accepted.add('A signed call has arrived');
      onCall();
    } catch {
      refused.add('A call was cut off, or not complete in time');
    }
  };
  const server = createServer({
    headersTimeout: patience,
    requestTimeout: patience,
    // By default, Node looks for connections that are too slow every 30 seconds.
    connectionsCheckingInterval: patience / 10,
  });
  server.maxConnections = mostConnections;
  server.on('request', (request, response) => void answer(request, response));
  // A client that asks first is not told to send a body that is refused.
  server.on('checkContinue', (request, response) => void answer(request, response));
  server.on('drop', () => refused.add(`A call was refused: more than ${mostConnections} connections`));
  const { address: ip, port } = await start(server, address);
  const url = `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}/`;
  log(`Listening for signed calls at ${url}`);
  if (!isLoopback(ip)) {
    log('Other machines can reach this port, without encryption. Put a proxy with TLS in front of it.');
  }
  return {
    url,
    close() {
      accepted.close();
      refused.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

function start(server: Server, { host, port }: ListenAddress): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    // Not only once: an error of a later connection, without a listener, would end the process.
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      reject(userError('cannot-listen', `Could not listen at ${host}:${port}: ${code}.`));
    });
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

interface Verdict {
  status: 202 | 401 | 404 | 405 | 413;
  /** For the log. Contains nothing of the call. */
  reason?: string;
}

const tooLong: Verdict = { status: 413, reason: 'a body of more than 64 KiB' };

/**
 * Decides on a call. A call that was accepted before is accepted again: a check changes nothing where nothing was
 * published.
 *
 * @throws if the body does not arrive.
 */
async function judge(
  request: IncomingMessage,
  response: ServerResponse,
  webhook: ListenOptions['webhook'],
): Promise<Verdict> {
  const { method, url, headers } = request;
  if (url !== '/') return { status: 404, reason: 'another path' };
  if (method !== 'POST') return { status: 405, reason: 'another method than POST' };
  if (headers['webhook-signature'] === undefined) return { status: 401, reason: 'no signature' };
  if (Number(headers['content-length'] ?? 0) > longestBody) return tooLong;
  if (headers.expect !== undefined) response.writeContinue();
  const body = await readBody(request);
  if (body === undefined) return tooLong;
  try {
    webhook.verify(body, headers as Record<string, string>, { jsonParse: false });
    return { status: 202 };
  } catch (error) {
    return { status: 401, reason: (error as Error).message };
  }
}

/** `undefined` if it is too long; the rest is not read then. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The connection is still needed for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > longestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const summaryInterval = 60_000;

/** Logs the first line at once, and the number of all later ones once a minute, so that a flood does not fill a log. */
function summarized(log: (line: string) => void): { add(line: string): void; close(): void } {
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const write = () => {
    timer = undefined;
    if (counts.size === 0 || isClosed) return;
    for (const [line, count] of counts) log(count === 1 ? line : `${line} × ${count}`);
    counts.clear();
    timer = setTimeout(write, summaryInterval).unref();
  };
  return {
    add(line) {
      counts.set(line, (counts.get(line) ?? 0) + 1);
      if (timer === undefined) write();
    },
    close() {
      clearTimeout(timer);
      isClosed = true;
    },
  };
}

/** A clock whose waits end early on a call: the one under way, or else the next one. Calls until then are one. */
export function callableClock(clock: Clock): { clock: Clock; call(): void } {
  let called = new AbortController();
  return {
    call: () => called.abort(),
    clock: {
      ...clock,
      async wait(milliseconds, signal) {
        const signals = signal === undefined ? [called.signal] : [called.signal, signal];
        try {
          await clock.wait(milliseconds, AbortSignal.any(signals));
        } catch (error) {
          signal?.throwIfAborted();
          if (!called.signal.aborted) throw error;
        } finally {
          if (called.signal.aborted) called = new AbortController();
        }
      },
    },
  };
}
