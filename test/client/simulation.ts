import { defaultLimits } from '../../src/client/limits.ts';
import { SnippetClient, type SnippetClientOptions } from '../../src/client/snippet-client.ts';
import { SnippetError } from '../../src/client/snippet-error.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import { type HttpResponse, type Transport, TransportError } from '../../src/client/transport/transport.ts';
import type { Variant } from '../../src/client/variants.ts';
import { virtualClock } from '../support/service/clock.ts';

/** What the simulated service does with a request. A number is a status. */
export type Behaviour =
  | 'good'
  | 'network'
  | 'refused'
  | 'hang'
  | number
  | { status: number; retryAfter: string };

export interface SimulatedRequest {
  variant: Variant;
  id: number;
  /** Milliseconds since the start. */
  at: number;
  random(): number;
}

export interface Simulation {
  /** The requested ids, in order. */
  ids: readonly number[];
  /** How long an answer takes, in milliseconds. */
  latency?: number | ((request: SimulatedRequest) => number);
  behaviour(request: SimulatedRequest): Behaviour;
  /** Which variants have a base URL, and whether they share an origin. */
  endpoints?: 'render' | 'retrieve' | 'both' | 'both-on-one-origin';
  options?: Partial<SnippetClientOptions>;
  seed?: number;
  /** How far the clock advances with each reading, in milliseconds. */
  step?: number;
}

export interface SimulatedRun {
  /** The ids that arrived. */
  fetched: Set<number>;
  /** The errors of the others. */
  failed: Map<number, SnippetError>;
  /** How long it took, in simulated milliseconds. */
  milliseconds: number;
  requests: Record<Variant, number>;
  /** The most requests in flight at once. */
  most: number;
  notices: { kind: string; at: number }[];
}

/** Reproducible random numbers (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs a client against a service on a virtual clock: minutes take milliseconds. */
export async function simulate({
  ids,
  latency = 20,
  behaviour,
  endpoints = 'render',
  options = {},
  seed = 1,
  step = 0,
}: Simulation): Promise<SimulatedRun> {
  const random = randomNumbers(seed);
  const clock = virtualClock({ random: randomNumbers(seed + 1), quietFor: 0, step });
  const requests = { render: 0, retrieve: 0 };
  let now = 0;
  let most = 0;
  const transport: Transport = {
    async send({ url, timeout }, signal) {
      const { pathname } = new URL(url);
      const variant = pathname.endsWith('/render') ? 'render' : 'retrieve';
      const id = Number(/\/snippets\/(\d+)/.exec(pathname)?.[1]);
      const request = { variant, id, at: clock.advanced(), random } as const;
      requests[variant] += 1;
      most = Math.max(most, ++now);
      try {
        return await respond(request, timeout, signal);
      } finally {
        now -= 1;
      }
    },
    capacity: Number.POSITIVE_INFINITY,
    async close() {},
  };
  const respond = async (request: SimulatedRequest, timeout: number, signal: AbortSignal) => {
    const what = behaviour(request);
    const takes = typeof latency === 'number' ? latency : latency(request);
    if (what === 'hang' || takes >= timeout) {
      await clock.wait(what === 'hang' ? Math.min(timeout, defaultLimits.idleTimeout) : timeout, signal);
      throw new TransportError('timeout', 'no complete answer');
    }
    await clock.wait(takes, signal);
    if (what === 'network') throw new TransportError('network', 'read ECONNRESET');
    if (what === 'refused') throw new TransportError('network', 'connect ECONNREFUSED', true);
    return answerWith(what, request.id);
  };
  const notices: SimulatedRun['notices'] = [];
  const client = new SnippetClient(
    {
      apiKey: 'sk_simulated',
      ...baseUrls[endpoints],
      onNotice: ({ kind }) => notices.push({ kind, at: clock.advanced() }),
      ...options,
    },
    { clock, transport },
  );
  const fetched = new Set<number>();
  const failed = new Map<number, SnippetError>();
  const get = async (id: number) => {
    try {
      await client.fetch(createRequest(id));
      fetched.add(id);
    } catch (error) {
      if (!(error instanceof SnippetError)) throw error;
      failed.set(id, error);
    }
  };
  await Promise.all(ids.map(get));
  const milliseconds = clock.advanced();
  await client.close();
  return { fetched, failed, milliseconds, requests, most, notices };
}

const baseUrls = {
  render: { renderBaseUrl: 'https://render.test' },
  retrieve: { retrieveBaseUrl: 'https://retrieve.test' },
  both: { renderBaseUrl: 'https://render.test', retrieveBaseUrl: 'https://retrieve.test' },
  'both-on-one-origin': { renderBaseUrl: 'https://one.test/b', retrieveBaseUrl: 'https://one.test/a' },
} as const;

function answerWith(
  what: 'good' | number | { status: number; retryAfter: string },
  id: number,
): HttpResponse {
  const contentType = 'application/json';
  if (what === 'good') {
    return {
      status: 200,
      contentType,
      retryAfter: undefined,
      body: Buffer.from(JSON.stringify({ id, content: `${id}` })),
    };
  }
  const { status, retryAfter } = typeof what === 'number' ? { status: what, retryAfter: undefined } : what;
  return { status, contentType: 'text/plain', retryAfter, body: Buffer.alloc(0) };
}

/** A random share of the ids from 1. */
export function chooseIds(
  count: number,
  share: number,
  seed: number,
): { ids: number[]; chosen: Set<number> } {
  const random = randomNumbers(seed);
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const shuffled = ids.map((id) => ({ id, random: random() })).sort((a, b) => a.random - b.random);
  return { ids, chosen: new Set(shuffled.slice(0, Math.round(count * share)).map(({ id }) => id)) };
}
