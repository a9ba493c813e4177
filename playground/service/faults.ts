import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnvironment } from './api-environment.ts';
import { problemResponse } from './problems.ts';

/** What is wrong with the service at the moment, on demand. All of it can be changed while it runs. */
export interface Faults {
  /** The share of requests that fail, from 0 to 1. */
  failing: number;
  /** So many of the next requests fail, whatever the share. */
  failingNext: number;
  failingStatus: 500 | 502 | 503 | 504;
  /** Sent with each failure, as it is; empty for none. */
  retryAfter: string;
  /** Before each answer, in milliseconds; in truth between half of it and half as much again. */
  latency: number;
  /** The share of answers that are cut off in the middle of their body, from 0 to 1. */
  cut: number;
  /** As if variant B were not there at all: a 404 of a web server that has no such route, and so no problem. */
  renderAbsent: boolean;
  /** The snippets that all this applies to; none listed, to all. */
  only: number[];
}

export const noFaults: Readonly<Faults> = {
  failing: 0,
  failingNext: 0,
  failingStatus: 503,
  retryAfter: '',
  latency: 0,
  cut: 0,
  renderAbsent: false,
  only: [],
};

/** Puts the faults between a request and its answer. */
export function faultyAnswers(faults: Faults, random: () => number): MiddlewareHandler<ApiEnvironment> {
  return async (context, next) => {
    const id = Number(context.req.param('id'));
    if (faults.only.length > 0 && !faults.only.includes(id)) return next();
    if (faults.latency > 0) await wait(faults.latency * (0.5 + random()));
    if (faults.renderAbsent && context.req.path.endsWith('/render'))
      return context.text('404 Not Found', 404);
    const isNext = faults.failingNext > 0;
    if (isNext) faults.failingNext -= 1;
    if (isNext || random() < faults.failing) {
      const headers: Record<string, string> =
        faults.retryAfter === '' ? {} : { 'retry-after': faults.retryAfter };
      return problemResponse(
        context.var.websiteUrl,
        faults.failingStatus,
        'This is a fault on demand: it was switched on for the playground.',
        headers,
      );
    }
    await next();
    if (random() < faults.cut) context.res = cutShort(context.res, context.env);
    return undefined;
  };
}

function wait(milliseconds: number): Promise<void> {
  // Unreferenced: an answer that is still waited for does not keep a service that was closed from ending.
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

/** The same answer, whose connection (or stream, with HTTP/2) ends in the middle of the body. */
function cutShort(response: Response, { outgoing }: HttpBindings | Http2Bindings): Response {
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      controller.enqueue(bytes.subarray(0, Math.floor(bytes.length / 2)));
      // After the first half was sent, so that what arrives is a cut answer and not no answer.
      setTimeout(() => ('stream' in outgoing ? outgoing.stream : outgoing).destroy(), 10);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
