import { STATUS_CODES } from 'node:http';
import { type HttpHandler, HttpResponse, http } from 'msw';

/** How a snippet fails. */
export interface SnippetFault {
  /** The HTTP status of a response with a problem object, from 400 to 599; `network-error` for no response. */
  status: number | 'network-error';
  /** The detail of the problem object. @default a sentence with the id */
  detail?: string;
  /** The header `Retry-After`: seconds, or a date. @default no header */
  retryAfter?: string;
  /** How many requests fail before `content` is sent. @default all, so that `content` is never sent */
  times?: number;
  /** The content that is sent once `times` requests have failed. @default '' */
  content?: string;
}

/** The response to a request for a snippet: its content, the content that a function makes of the params, or a failure. */
export type SnippetAnswer = string | ((params: Record<string, unknown>) => string) | SnippetFault;

/** The requests that `snippetHandlers` responds to, and the key that these need. */
export interface SnippetHandlersOptions {
  /** Base URL of the endpoint that renders. @default any URL with the path for rendering */
  renderBaseUrl?: string;
  /** Base URL of the endpoint that retrieves. @default any URL with the path for retrieving */
  retrieveBaseUrl?: string;
  /** The only valid API key: requests with another key get 401. @default any key */
  apiKey?: string;
}

/**
 * Creates handlers for msw that respond like the Snippet Delivery Service (specification, sections 4, 5 and 7): one for the
 * endpoint that renders, and one for the endpoint that retrieves. Content is sent as it is given; variables in it stay.
 *
 * @param snippets by id. A request for any other id gets 404.
 * @throws RangeError for a status that is no failure, such as 200.
 *
 * @example
 * network.use(...snippetHandlers({ 42: '<p>hi</p>', 43: { status: 503, times: 1, content: 'back' } }));
 */
export function snippetHandlers(
  snippets: Record<number, SnippetAnswer>,
  { renderBaseUrl = '*', retrieveBaseUrl = '*', apiKey }: SnippetHandlersOptions = {},
): HttpHandler[] {
  refuseOtherStatuses(snippets);
  const failuresById = new Map<number, number>();

  const respond = (request: Request, id: number, send: (content: string) => Response) => {
    if (!hasValidKey(request, apiKey)) return problemResponse(401, 'No valid API key was provided.');

    const answer = snippets[id];
    if (answer === undefined) return problemResponse(404, `There is no snippet ${id}.`);
    if (typeof answer === 'string') return send(answer);
    if (typeof answer === 'function') {
      const params = new URL(request.url).searchParams.get('params') ?? '{}';
      return send(answer(JSON.parse(params)));
    }

    const { status, detail, retryAfter, times = Infinity, content = '' } = answer;
    const failures = failuresById.get(id) ?? 0;
    if (failures >= times) return send(content);
    failuresById.set(id, failures + 1);
    if (status === 'network-error') return HttpResponse.error();
    return problemResponse(status, detail ?? `Snippet ${id} is set to fail.`, retryAfter);
  };

  const handle = (url: string, fieldsOf: (id: number) => object) =>
    http.get(url, ({ request, params }) => {
      const id = Number(params['id']);
      return respond(request, id, (content) => HttpResponse.json({ ...fieldsOf(id), content }));
    });

  return [
    handle(`${renderBaseUrl}/snippets/:id/render`, () => ({})),
    handle(`${retrieveBaseUrl}/snippets/:id`, (id) => ({ id, name: `Snippet ${id}` })),
  ];
}

/** A response with another status would not mean a failure, and a test that expects one would mislead. */
function refuseOtherStatuses(snippets: Record<number, SnippetAnswer>) {
  for (const [id, answer] of Object.entries(snippets)) {
    if (typeof answer !== 'object' || answer.status === 'network-error') continue;
    if (Number.isInteger(answer.status) && answer.status >= 400 && answer.status <= 599) continue;
    throw new RangeError(
      `The status of snippet ${id} is ${answer.status}. A failure has one from 400 to 599.`,
    );
  }
}

function hasValidKey({ headers }: Request, apiKey: string | undefined) {
  const authorization = headers.get('authorization') ?? '';
  const [, key] = /^Bearer (\S+)$/.exec(authorization) ?? [];
  return key !== undefined && key === (apiKey ?? key);
}

/** A response with a problem object (specification, sections 2 and 7). */
function problemResponse(status: number, detail: string, retryAfter?: string) {
  const headers = {
    'content-type': 'application/problem+json',
    ...(retryAfter && { 'retry-after': retryAfter }),
  };
  const type = `https://snippets.test/problems/${status}`;
  const title = STATUS_CODES[status] ?? `Status ${status}`;
  return HttpResponse.json({ status, title, detail, type }, { status, headers });
}
