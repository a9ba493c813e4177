import { HttpRequestInterceptor } from '@mswjs/interceptors/http';
import { HttpResponse, http, type JsonBodyType } from 'msw';
import { defineNetwork, InterceptorSource } from 'msw/experimental';
import { defaultNetworkOptions } from 'msw/node';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { SnippetClient, type SnippetClientOptions } from '../../../src/client/index.ts';
import { instantClock } from '../service/clock.ts';

/**
 * A network that sees every HTTP request of the process, and rejects requests without a handler. msw's own
 * `setupServer` does not see undici's requests, and lets them through to the real network.
 */
export const network = defineNetwork({
  ...defaultNetworkOptions,
  sources: [new InterceptorSource({ interceptors: [new HttpRequestInterceptor()] })],
  onUnhandledFrame: 'error',
});

/** Enables the network for the tests of a file, each with its own handlers. */
export function answerRequests(): void {
  beforeAll(() => network.enable());
  afterEach(() => network.resetHandlers());
  afterAll(() => network.disable());
}

export const apiKey = 'sk_test_3f1c9a6b52d84e07';

export const renderBaseUrl = 'https://render.test/delivery';
export const retrieveBaseUrl = 'https://retrieve.test/content/v1';

/** A client on this network, whose waits end at once. */
export function client(options: Partial<SnippetClientOptions> = {}): SnippetClient {
  return new SnippetClient(
    { apiKey, renderBaseUrl, retrieveBaseUrl, patience: 0, ...options },
    { clock: instantClock() },
  );
}

type Answer = () => Response | Promise<Response>;

/**
 * Sets the answers of both variants. Requests get the answers in turn, and then the last answer again.
 *
 * @returns the requests, each with its variant.
 */
export function answer(answers: { render?: Answer[]; retrieve?: Answer[] }): { asked: string[] } {
  const asked: string[] = [];
  const handler = (variant: 'render' | 'retrieve', url: string) => {
    let next = 0;
    return http.get(url, ({ request }) => {
      asked.push(`${variant} ${new URL(request.url).pathname}${new URL(request.url).search}`);
      const list = answers[variant] ?? [];
      const respond = list[Math.min(next, list.length - 1)];
      next += 1;
      if (respond === undefined) throw new Error(`No answer was given for ${variant}.`);
      return respond();
    });
  };
  network.use(
    handler('render', `${renderBaseUrl}/snippets/:id/render`),
    handler('retrieve', `${retrieveBaseUrl}/snippets/:id`),
  );
  return { asked };
}

/** An answer with JSON. */
export const json =
  (body: JsonBodyType, status = 200): Answer =>
  () =>
    HttpResponse.json(body, { status });

/** An answer with a problem object (specification, section 2). */
export const problem =
  (status: number, fields: Record<string, unknown> = {}, headers: Record<string, string> = {}): Answer =>
  () =>
    new HttpResponse(
      JSON.stringify({
        status,
        title: `Title ${status}`,
        detail: `Detail of ${status}.`,
        type: `https://service.test/problems/${status}`,
        ...fields,
      }),
      { status, headers: { 'content-type': 'application/problem+json', ...headers } },
    );

/** An answer from something other than the service, such as a gateway. */
export const text =
  (body: string, status = 200, headers: Record<string, string> = {}): Answer =>
  () =>
    new HttpResponse(body, { status, headers: { 'content-type': 'text/html', ...headers } });

export const connectionFails: Answer = () => HttpResponse.error();
