import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { userError } from '../failures/errors.ts';
import type { Environment } from '../settings/environment.ts';
import { environmentVariables } from '../settings/variable-names.ts';
import { protectKey } from '../text/known-keys.ts';

/**
 * Reads the secret that calls are signed with, as Standard Webhooks define it: in base64 after the prefix
 * `whsec_`, or the text itself without that prefix. The secret is kept out of all output from then on.
 *
 * @throws UserError if the secret is not set, malformed or too short
 */
export function readWebhookSecret(environment: Environment): Webhook {
  const variable = environmentVariables.webhookSecret;
  const secret = environment[variable] ?? '';
  const [, encoded] = /^whsec_(.*)$/.exec(secret) ?? [];
  const isValid = encoded === undefined ? /^[!-~]*$/.test(secret) : /^[A-Za-z0-9+/]*={0,2}$/.test(encoded);
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  if (!isValid || key.length < 16) {
    const expected = 'is not 16 ASCII characters without blanks, or whsec_ and 16 bytes in base64; or more';
    throw userError('webhook-secret', `${variable} ${secret === '' ? 'is not set' : expected}.`);
  }
  protectKey(encoded ?? secret);
  return new Webhook(key, { format: 'raw' });
}

export interface ListenAddress {
  /** An IP address or a name of this machine. */
  host: string;
  /** The port; 0 for any free one. */
  port: number;
}

export interface ListenOptions {
  address: ListenAddress;
  /** Verifies the signatures of calls. */
  webhook: Webhook;
  /** Called for each signed call. The body of the call is not used. */
  onCall(): void;
  /** Called with lines about the server and calls: at most one a minute for accepted, and for refused ones. */
  log(line: string): void;
  /** How long a call may take to arrive, in milliseconds. @default 10,000 */
  patience?: number;
  /** Closes the server, with its connections. */
  signal: AbortSignal;
}

type CallVerdict =
  | { status: 202 }
  /** `reason` is for the log, and quotes nothing of the call. The caller only gets the status. */
  | { status: 401 | 404 | 405 | 408 | 413; reason: string };

/** How many connections are open at most. Calls are rare, so any more are dropped. */
const maxConnections = 50;

/** The longest body that is read, in bytes. The payload of an event takes less than 1 KiB. */
const maxBodyLength = 64 * 1024;

/**
 * Accepts calls of a webhook, such as those that a service makes when a snippet is published.
 *
 * @returns the URL that calls are sent to
 * @throws UserError if the address cannot be used
 */
export async function listen(options: ListenOptions): Promise<string> {
  const { address, log, signal } = options;
  const server = createCallServer(options);
  await once(server.listen(address), 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw userError('cannot-listen', `Could not listen at ${address.host}:${address.port}: ${code}.`);
  });
  // Without a listener, an error such as too many open files would crash Node.
  server.on('error', ({ message }) => log(message));
  signal.addEventListener('abort', () => void server.close().closeAllConnections());

  const { address: ip, port } = server.address() as AddressInfo;
  const isLoopback = ip === '::1' || ip.startsWith('127.');
  if (!isLoopback) {
    log('Other machines can reach this port, without encryption. Put a proxy with TLS in front of it.');
  }
  return `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}/`;
}

function createCallServer({ webhook, onCall, log, patience = 10_000 }: ListenOptions): Server {
  const logAccepted = onceAMinute(log);
  const logRefused = onceAMinute(log);

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // A client that ends the connection early would crash Node if nothing listened to the error.
    response.on('error', () => {});
    const verdict = await judgeCall(request, webhook);
    if (verdict.status === 405) response.setHeader('allow', 'POST');
    // Connections are few, and calls are rare: none is kept open for the next call.
    response.writeHead(verdict.status, { 'content-length': 0, connection: 'close' }).end();

    if (verdict.status === 202) {
      logAccepted('A signed call has arrived');
      onCall();
    } else {
      logRefused(`A call was refused: ${verdict.reason} (${verdict.status})`);
    }
  };

  // Node looks for slow connections every 30 seconds by default, which is too rare for short timeouts.
  const connectionsCheckingInterval = patience / 10;
  const timeouts = { headersTimeout: patience, requestTimeout: patience, connectionsCheckingInterval };
  const server = createServer(timeouts, answer);
  server.maxConnections = maxConnections;
  server.on('drop', () => logRefused(`A call was refused: more than ${maxConnections} connections`));
  return server;
}

async function judgeCall(request: IncomingMessage, webhook: Webhook): Promise<CallVerdict> {
  const { method, url, headers } = request;
  // The cheap checks come first, so that the body of a call that fails them is not read.
  if (url !== '/') return { status: 404, reason: 'another path' };
  if (method !== 'POST') return { status: 405, reason: 'another method than POST' };
  if (!headers['webhook-signature']) return { status: 401, reason: 'no signature' };
  try {
    const body = await readBody(request);
    if (!body) return { status: 413, reason: 'a body of more than 64 KiB' };
    webhook.verify(body, headers as Record<string, string>, { jsonParse: false });
    return { status: 202 };
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { status: 401, reason: error.message };
    return { status: 408, reason: 'it was cut off, or not complete in time' };
  }
}

/** Reads the body of a call. @returns `undefined` if it is too long. @throws if it does not arrive */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyLength) return undefined;
  let body = Buffer.alloc(0);
  // Leaving the loop must not close the connection, which is still needed for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    body = Buffer.concat([body, chunk]);
    if (body.length > maxBodyLength) return undefined;
  }
  return body;
}

/** Limits a kind of lines to one a minute, lest calls flood a log. The next line says how many there were. */
function onceAMinute(log: ListenOptions['log']): ListenOptions['log'] {
  let callCount = 0;
  let nextLineAt = 0;
  return (line) => {
    callCount += 1;
    const now = Date.now();
    if (now < nextLineAt) return;
    log(callCount === 1 ? line : `${line} × ${callCount}`);
    callCount = 0;
    nextLineAt = now + 60_000;
  };
}
