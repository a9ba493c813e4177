import { STATUS_CODES } from 'node:http';
import { type HttpHandler, HttpResponse, http } from 'msw';

/** A snippet that fails. */
export interface SnippetFault {
  /** Of an answer with a problem object; or `network-error` for no answer. */
  status: 400 | 401 | 402 | 403 | 404 | 429 | 500 | 502 | 503 | 504 | 'network-error';
  detail?: string;
  retryAfter?: string;
  /** How many requests fail before `content` is sent. @default all */
  times?: number;
  /** The content after the failures. @default '' */
  content?: string;
}

/** A snippet's content, a function from params to content, or a failure. */
export type SnippetAnswer = string | ((params: Record<string, unknown>) => string) | SnippetFault;

export interface SnippetHandlersOptions {
  /** @default any URL with the path for rendering */
  renderBaseUrl?: string;
  /** @default any URL with the path for retrieving */
  retrieveBaseUrl?: string;
  /** The only valid key. @default any key */
  apiKey?: string;
}

/**
 * Handlers for msw that respond like the Snippet Delivery Service (specification, sections 4, 5 and 7).
 *
 * @param snippets by id. Any other id is answered with 404.
 *
 * @example
 * network.use(...snippetHandlers({ 42: '<p>hi</p>', 43: { status: 503, times: 1, content: 'back' } }));
 */
export function snippetHandlers(
  snippets: Record<number, SnippetAnswer>,
  { renderBaseUrl = '*', retrieveBaseUrl = '*', apiKey }: SnippetHandlersOptions = {},
): HttpHandler[] {
  const failed = new Map<number, number>();

  const answer = (request: Request, id: number, send: (content: string) => Response) => {
    const authorization = request.headers.get('authorization') ?? '';
    const [, key] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    if (!key || key !== (apiKey ?? key)) return problemResponse(401, 'No valid API key was provided.');
    const found = snippets[id];
    if (found === undefined) return problemResponse(404, `There is no snippet ${id}.`);
    if (typeof found === 'string') return send(found);
    if (typeof found === 'function') {
      const params = new URL(request.url).searchParams.get('params') ?? '{}';
      return send(found(JSON.parse(params)));
    }
    const { status, detail, retryAfter, times = Infinity, content = '' } = found;
    const failures = failed.get(id) ?? 0;
    if (failures >= times) return send(content);
    failed.set(id, failures + 1);
    if (status === 'network-error') return HttpResponse.error();
    const headers = retryAfter && { 'retry-after': retryAfter };
    return problemResponse(status, detail ?? `Snippet ${id} is set to fail.`, headers);
  };

  const handle = (url: string, fieldsOf: (id: number) => object) =>
    http.get(url, ({ request, params }) => {
      const id = Number(params['id']);
      return answer(request, id, (content) => HttpResponse.json({ ...fieldsOf(id), content }));
    });

  return [
    handle(`${renderBaseUrl}/snippets/:id/render`, () => ({})),
    handle(`${retrieveBaseUrl}/snippets/:id`, (id) => ({ id, name: `Snippet ${id}` })),
  ];
}

function problemResponse(status: number, detail: string, headers?: object | '') {
  const type = `https://snippets.test/problems/${status}`;
  return HttpResponse.json(
    { status, title: STATUS_CODES[status], detail, type },
    { status, headers: { 'content-type': 'application/problem+json', ...headers } },
  );
}
