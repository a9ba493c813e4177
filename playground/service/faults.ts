import { setTimeout as wait } from 'node:timers/promises';
import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnvironment } from './authenticate.ts';
import type { Refuse } from './problems.ts';

/** The current faults. They can be changed while the service runs. */
export interface Faults {
  /** The share of requests that fail, from 0 to 1. */
  failing: number;
  /** How many of the next requests fail, whatever the share. */
  failingNext: number;
  failingStatus: 500 | 502 | 503 | 504;
  /** Sent with each failure as it is, unless empty. */
  retryAfter: string;
  /** The delay of each answer in milliseconds, varied by up to half. */
  latency: number;
  /** The share of answers that are cut off in the middle of their body, from 0 to 1. */
  cut: number;
  /** Whether variant B seems not to exist: a web server answers 404 without a problem object. */
  renderAbsent: boolean;
  /** The snippets with faults. If empty, all. */
  only: number[];
}

export const noFaults: Faults = {
  failing: 0,
  failingNext: 0,
  failingStatus: 503,
  retryAfter: '',
  latency: 0,
  cut: 0,
  renderAbsent: false,
  only: [],
};

/** Applies the faults to answers. */
export function faultyAnswers(
  faults: Faults,
  random: () => number,
  refuse: Refuse,
): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const id = Number(context.req.param('id'));
    if (faults.only.length > 0 && !faults.only.includes(id)) return next();
    // The timer is unreferenced, so that a delayed answer does not keep a closed service alive.
    if (faults.latency > 0) await wait(faults.latency * (0.5 + random()), undefined, { ref: false });
    if (faults.renderAbsent && context.req.path.endsWith('/render'))
      return context.text('404 Not Found', 404);
    const isNext = faults.failingNext > 0;
    if (isNext) faults.failingNext -= 1;
    if (isNext || random() < faults.failing) {
      const { failingStatus, retryAfter } = faults;
      const detail = 'This is a fault on demand: it was switched on for the playground.';
      const headers = retryAfter === '' ? undefined : { 'retry-after': retryAfter };
      return refuse(failingStatus, detail, headers);
    }
    await next();
    if (random() < faults.cut) context.res = cutShort(context.res, context.env);
    return undefined;
  };
}

/** Ends the connection (or HTTP/2 stream) in the middle of the body. */
function cutShort(response: Response, { outgoing }: HttpBindings | Http2Bindings): Response {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      controller.enqueue(bytes.subarray(0, Math.floor(bytes.length / 2)));
      // The connection ends a moment later: the first half has to arrive.
      setTimeout(() => ('stream' in outgoing ? outgoing.stream : outgoing).destroy(), 10);
    },
  });
  return new Response(body, response);
}
