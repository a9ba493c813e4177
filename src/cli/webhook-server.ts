import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { userError } from '../failures/errors.ts';
import { type Environment, environmentVariables } from '../settings/environment.ts';
import { protectKey } from '../text/known-keys.ts';

/** What calls are signed with, kept out of all output. After `whsec_`, it is base64. */
export function readWebhookSecret({
  [environmentVariables.webhookSecret]: secret = '',
}: Environment): Webhook {
  const [, encoded] = /^whsec_(.*)$/.exec(secret) ?? [];
  const form = encoded === undefined ? /^[!-~]*$/ : /^[A-Za-z0-9+/]*={0,2}$/;
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  if (key.length < 16 || !form.test(encoded ?? secret)) {
    const least = 'is not 16 ASCII characters without blanks, or whsec_ and 16 bytes in base64; or more';
    throw userError(
      'webhook-secret',
      `${environmentVariables.webhookSecret} ${secret === '' ? 'is not set' : least}.`,
    );
  }
  protectKey(encoded ?? secret);
  return new Webhook(key, { format: 'raw' });
}

export interface ListenOptions {
  address: { host: string; port: number };
  webhook: Webhook;
  onCall(): void;
  log(line: string): void;
  /** How long a call may take to arrive, in milliseconds. @default 10,000 */
  patience?: number;
  signal: AbortSignal;
}

// In bytes. The payload of an event takes less than 1 KiB.
const longestBody = 64 * 1024;

export async function listen({
  address,
  webhook,
  onCall,
  log,
  patience = 10_000,
  signal,
}: ListenOptions): Promise<string> {
  const [accepted, refused] = [onceAMinute(log), onceAMinute(log)];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    // If the client ends it early, that would end the process.
    response.on('error', () => {});
    const [status, reason] = await judgeCall(request, webhook).catch((error): CallVerdict => {
      if (error instanceof WebhookVerificationError) return [401, error.message];
      return [408, 'it was cut off, or not complete in time'];
    });
    if (status === 405) response.setHeader('allow', 'POST');
    // Calls are rare, and connections are few.
    response.writeHead(status, { 'content-length': 0, connection: 'close' }).end();
    if (status !== 202) return refused(`A call was refused: ${reason} (${status})`);
    accepted('A signed call has arrived');
    onCall();
  };
  const timeouts = { headersTimeout: patience, requestTimeout: patience };
  // By default, Node looks for slow connections every 30 seconds.
  const server = createServer({ ...timeouts, connectionsCheckingInterval: patience / 10 }, answer);
  server.maxConnections = 50;
  server.on('drop', () => refused('A call was refused: more than 50 connections'));
  await once(server.listen(address), 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw userError('cannot-listen', `Could not listen at ${address.host}:${address.port}: ${code}.`);
  });
  // Too many open files would end the process.
  server.on('error', ({ message }) => log(message));
  signal.addEventListener('abort', () => void server.close().closeAllConnections());
  const { address: ip, port } = server.address() as AddressInfo;
  if (ip !== '::1' && !ip.startsWith('127.')) {
    log('Other machines can reach this port, without encryption. Put a proxy with TLS in front of it.');
  }
  return `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}/`;
}

/** The status of the answer, and why a call is refused, which quotes nothing of it. */
type CallVerdict = [status: number, reason?: string];

/** @throws if the body does not arrive, or was not signed. */
async function judgeCall(request: IncomingMessage, webhook: Webhook): Promise<CallVerdict> {
  const { method, url, headers } = request;
  if (url !== '/') return [404, 'another path'];
  if (method !== 'POST') return [405, 'another method than POST'];
  if (!headers['webhook-signature']) return [401, 'no signature'];
  const tooLong: CallVerdict = [413, 'a body of more than 64 KiB'];
  if (Number(headers['content-length'] ?? 0) > longestBody) return tooLong;
  let body = Buffer.alloc(0);
  // The connection is still needed for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    body = Buffer.concat([body, chunk]);
    if (body.length > longestBody) return tooLong;
  }
  webhook.verify(body, headers as Record<string, string>, { jsonParse: false });
  return [202];
}

/** With how many lines there were: a flood does not fill a log. */
function onceAMinute(log: ListenOptions['log']) {
  let [count, next] = [0, 0];
  return (line: string) => {
    count += 1;
    if (Date.now() < next) return;
    log(count === 1 ? line : `${line} × ${count}`);
    [count, next] = [0, Date.now() + 60_000];
  };
}
