import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../client/clock.ts';
import { protectKey } from '../client/known-keys.ts';
import { userError } from '../failures/user-error.ts';
import { type EnvironmentFiles, readEnvironment, variables } from '../settings/environment.ts';
import type { CliContext } from './context.ts';
import { isLoopback, type ListenAddress } from './listen-address.ts';
import {
  judgeBody,
  judgeHead,
  type KnownIds,
  longestBody,
  type Refusal,
  refusals,
  rememberIds,
  signingKey,
} from './webhook-policy.ts';

/**
 * Reads the secret that calls are signed with, and keeps it out of all output.
 *
 * @throws AstroError if there is none, or one of no use. It is not shown.
 */
export async function readWebhookKey(context: CliContext, files: EnvironmentFiles): Promise<Buffer> {
  const { [variables.webhookSecret]: secret } = await readEnvironment(files, context);
  const key = signingKey(secret);
  if (typeof key === 'string') throw userError('webhook-secret', `${variables.webhookSecret} ${key}.`);
  // With or without the prefix.
  protectKey(secret?.replace(/^whsec_/, '') ?? '');
  return key;
}

export interface ListenOptions {
  address: ListenAddress;
  /** What calls are signed with. */
  key: Uint8Array;
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

/**
 * Accepts signed calls over HTTP. Answers have no body and contain nothing of the request.
 *
 * @throws AstroError if it cannot listen at this host and port.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { address, log, patience = 10_000 } = options;
  const refused = summarized('Calls refused', log);
  const ignored = summarized('Calls ignored', log);
  const door = new Door(options, { refuse: refused.add, ignore: ignored.add });
  const server = createServer({
    headersTimeout: patience,
    requestTimeout: patience,
    // By default, Node looks for connections that are too slow every 30 seconds.
    connectionsCheckingInterval: patience / 10,
  });
  server.maxConnections = mostConnections;
  server.on('request', (request, response) => void door.answer(request, response));
  // A client that asks first is not told to send a body that is refused.
  server.on('checkContinue', (request, response) => void door.answer(request, response));
  server.on('drop', () => refused.add('more than 50 connections'));
  const { address: ip, port } = await start(server, address);
  const url = `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}/`;
  log(`Listening for signed calls at ${url}`);
  if (!isLoopback(ip)) {
    log('Other machines can reach this port, without encryption. Put a proxy with TLS in front of it.');
  }
  return {
    url,
    close() {
      refused.close();
      ignored.close();
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

/** Called with the reason of each call that has no effect. */
interface Logs {
  refuse(reason: string): void;
  /** For one that is answered as if it were accepted. */
  ignore(reason: string): void;
}

/** Answers calls, one by one. */
class Door {
  readonly #options: ListenOptions;
  readonly #logs: Logs;
  readonly #known: KnownIds = rememberIds(Date.now);
  #second = 0;
  #readThisSecond = 0;

  constructor(options: ListenOptions, logs: Logs) {
    this.#options = options;
    this.#logs = logs;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // One that the client ends early. Without a listener, it would end the process.
    response.on('error', () => {});
    const refusal = await this.#judge(request, response).catch(() => undefined);
    if (refusal === undefined) return this.#logs.refuse('cut off, or not complete in time');
    if (refusal === 'repeated') this.#logs.ignore(refusals[refusal].text);
    else if (refusal !== 'none') this.#logs.refuse(refusals[refusal].text);
    const status = refusal === 'none' ? 202 : refusals[refusal].status;
    if (status === 405) response.setHeader('allow', 'POST');
    if (status === 429) response.setHeader('retry-after', 1);
    // Calls are rare, and connections are few.
    response.writeHead(status, { 'content-length': 0, connection: 'close' }).end();
  }

  /** @throws if the body does not arrive. */
  async #judge(request: IncomingMessage, response: ServerResponse): Promise<Refusal | 'none'> {
    const { method, url: path, headers } = request;
    const head = { method, path, headers };
    // The time of the machine, and not one that never runs backwards: it is compared with that of another machine.
    const now = Date.now();
    const refusal = judgeHead(head, { now, readThisSecond: this.#countOf(now) });
    if (refusal !== undefined) return refusal;
    this.#readThisSecond += 1;
    if (headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request);
    if (body === undefined) return 'too-long';
    const verdict = judgeBody(head, body, this.#options.key, (id) => this.#known.has(id));
    if (verdict !== undefined) return verdict;
    const id = String(headers['webhook-id']);
    this.#known.add(id);
    this.#options.log(`A signed call has arrived: ${id}`);
    this.#options.onCall();
    return 'none';
  }

  #countOf(now: number): number {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) this.#readThisSecond = 0;
    this.#second = second;
    return this.#readThisSecond;
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

/**
 * Logs the first reason at once, and the number of all later ones once a minute, so that a flood does not fill a log.
 *
 * @param start what each line begins with.
 */
export function summarized(
  start: string,
  log: (line: string) => void,
): { add(reason: string): void; close(): void } {
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const write = () => {
    timer = undefined;
    if (counts.size === 0 || isClosed) return;
    const reasons = Array.from(counts, ([reason, count]) => (count === 1 ? reason : `${reason} × ${count}`));
    log(`${start}: ${reasons.join('; ')}`);
    counts.clear();
    timer = setTimeout(write, summaryInterval).unref();
  };
  return {
    add(reason) {
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
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
