import { setTimeout as wait } from 'node:timers/promises';
import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnvironment } from './authenticate.ts';
import type { Refuse } from './problems.ts';

/** The current faults. They can be changed while the service runs. */
export type Faults = typeof noFaults;

export const noFaults = {
  /** The share of requests that fail, from 0 to 1. */
  failing: 0,
  /** How many of the next requests fail, whatever the share. */
  failingNext: 0,
  failingStatus: 503 as 500 | 502 | 503 | 504,
  /** Sent with each failure as it is, unless empty. */
  retryAfter: '',
  /** The delay of each answer in milliseconds, varied by up to half. */
  latency: 0,
  /** The share of answers that are cut off in the middle of their body, from 0 to 1. */
  cut: 0,
  /** As if variant B did not exist: a web server's 404 without a problem object. */
  renderAbsent: false,
  /** The snippets with faults. If empty, all. */
  only: [] as number[],
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
    // Unreferenced, so that a delayed answer does not keep a closed service alive.
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
      // After the first half has been sent, so that a cut answer arrives.
      setTimeout(() => ('stream' in outgoing ? outgoing.stream : outgoing).destroy(), 10);
    },
  });
  return new Response(body, response);
}
