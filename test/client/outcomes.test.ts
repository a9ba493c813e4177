import { expect, test } from 'vitest';
import {
  answer,
  answerRequests,
  apiKey,
  client,
  connectionFails,
  json,
  problem,
  text,
} from '../support/http/network.ts';
import { failureOf } from '../support/tools/failure.ts';

answerRequests();

const content = json({ content: 'rendered' });
const retrieved = json({ id: 42, content: 'retrieved' });

const byB = (content: string) => ({ content, variant: 'render' });
const byA = (content: string) => ({ content, variant: 'retrieve' });
const error = (code: string) => ({ name: 'SnippetError', code, snippetId: 42 });

type Row = [what: string, answer: () => Response | Promise<Response>, outcome: object, ...asked: number[]];

// Each row of the rule for the fallback from B to A, through the public client: B's answer, the outcome if A would
// answer, and the number of requests to B and A.
const fromB: Row[] = [
  // 200
  ['a string content', content, byB('rendered'), 1, 0],
  ['an empty content', json({ content: '' }), byB(''), 1, 0],
  ['more fields', json({ content: 'x', more: 1 }), byB('x'), 1, 0],
  ['no content', json({ id: 42 }), byA('retrieved'), 2, 1],
  ['a content that is not a string', json({ content: 7 }), byA('retrieved'), 2, 1],
  ['an array', json(['x']), byA('retrieved'), 2, 1],
  ['cut JSON', text('{"content":"ren'), byA('retrieved'), 2, 1],
  ['a page', text('<h1>Welcome</h1>'), byA('retrieved'), 2, 1],
  ['no UTF-8', () => new Response(Buffer.from('{"content":"caf\xe9"}', 'latin1')), byA('retrieved'), 2, 1],
  // The key serves every request.
  ['401', problem(401), error('unauthorized'), 1, 0],
  ['401 without a problem', text('', 401), error('unauthorized'), 1, 0],
  ['402', problem(402), error('payment-required'), 1, 0],
  ['402 without a problem', text('', 402), error('payment-required'), 1, 0],
  // This snippet fails.
  ['403', problem(403), error('forbidden'), 1, 0],
  ['403 without a problem', text('', 403), error('forbidden'), 1, 0],
  ['404', problem(404), error('not-found'), 1, 0],
  // The route is not there.
  ['404 with JSON of a gateway', json({ message: 'no Route matched' }, 404), byA('retrieved'), 1, 1],
  ...[404, 405, 410, 501].map(
    (status): Row => [`${status} without a problem`, text('nothing here', status), byA('retrieved'), 1, 1],
  ),
  // An id is optional. Anything but a number is no snippet's id.
  ['its own id', json({ id: 42, content: 'rendered' }), byB('rendered'), 1, 0],
  ['an id that is no number', json({ id: 'r-9', content: 'rendered' }), byB('rendered'), 1, 0],
  // May be temporary: two attempts, then A.
  ['another id', json({ id: 99, content: 'of another snippet' }), byA('retrieved'), 2, 1],
  ['a network failure', connectionFails, byA('retrieved'), 2, 1],
  ...[408, 425, 429, 500, 502, 503, 504, 505, 507, 511, 520, 522, 529, 530, 599].flatMap((status): Row[] => [
    [`${status}`, problem(status), byA('retrieved'), 2, 1],
    [`${status} without a problem`, text('', status), byA('retrieved'), 2, 1],
  ]),
  // Any other status; a redirect, which is never followed.
  ['204', () => new Response(null, { status: 204 }), error('unexpected-status'), 1, 0],
  ...[201, 400, 405, 406, 409, 410, 418, 422, 426, 451, 499, 501].map(
    (status): Row => [`${status} with a problem`, problem(status), error('unexpected-status'), 1, 0],
  ),
  ...[300, 301, 302, 303, 307, 308].map((status): Row => {
    return [`${status}`, text('', status, { location: 'https://elsewhere.test/' }), error('redirect'), 1, 0];
  }),
];

test.for(fromB)('variant B answers with %s', async ([, given, outcome, ...asked]) => {
  const requests = answer({ render: [given], retrieve: [retrieved] });
  await using service = disposable();
  expect(await service.get(42).catch((reason: unknown) => reason)).toMatchObject(outcome);
  expect(count(requests.asked)).toEqual(asked);
});

// A's answer after B was found absent. B took one attempt, so four are left.
const fromA: Row[] = [
  ['a content', retrieved, byA('retrieved'), 1],
  ['an empty content', json({ id: 42, content: '' }), byA(''), 1],
  ['no content', json({ id: 42, name: 'A name' }), error('no-content'), 1],
  ['a content of null', json({ id: 42, content: null }), error('no-content'), 1],
  ['a name', json({ id: 42, name: 'A name', content: 'x' }), { ...byA('x'), name: 'A name' }, 1],
  ['a name of null', json({ id: 42, name: null, content: 'retrieved' }), byA('retrieved'), 1],
  ['another id', json({ id: 43, content: 'x' }), error('bad-answer'), 4],
  ['no id', json({ content: 'x' }), error('bad-answer'), 4],
  ['401', problem(401), error('unauthorized'), 1],
  ['402', problem(402), error('payment-required'), 1],
  ['403', problem(403), error('forbidden'), 1],
  ['404', problem(404), error('not-found'), 1],
  ['404 without a problem', text('', 404), error('no-route'), 1],
  ['405 without a problem', text('', 405), error('no-route'), 1],
  ['408', problem(408), error('timeout'), 4],
  ['429', problem(429), error('rate-limited'), 4],
  ['425', problem(425), error('server-error'), 4],
  ['500', problem(500), error('server-error'), 4],
  ['501', problem(501), error('unexpected-status'), 1],
  ['501 without a problem', text('', 501), error('no-route'), 1],
  ['507', problem(507), error('server-error'), 4],
  ['522', text('<h1>Cloudflare</h1>', 522), error('server-error'), 4],
  ['529 with a problem', problem(529), error('server-error'), 4],
  ['503', text('', 503), error('server-error'), 4],
  ['a network failure', connectionFails, error('network'), 4],
  ['cut JSON', text('{"id":42,"conte'), error('bad-answer'), 4],
  ['302', text('', 302, { location: '/' }), error('redirect'), 1],
  ['418', problem(418), error('unexpected-status'), 1],
];

test.for(fromA)('variant B is absent and variant A answers with %s', async ([, given, outcome, asked]) => {
  const requests = answer({ render: [text('', 404)], retrieve: [given] });
  await using service = disposable();
  const found = await service.get(42).catch((reason: unknown) => reason);
  expect(found).toMatchObject({ ...outcome, variant: 'retrieve' });
  expect(count(requests.asked)).toEqual([1, asked]);
});

test('a variant without a fallback has all five attempts', async () => {
  const { asked } = answer({ render: [problem(500)], retrieve: [problem(500)] });
  await using onlyB = disposable({ retrieveBaseUrl: undefined });
  await using onlyA = disposable({ renderBaseUrl: undefined });
  expect(await failureOf(onlyB.get(42))).toMatchObject({ variant: 'render', attempts: 5 });
  expect(await failureOf(onlyA.get(42))).toMatchObject({ variant: 'retrieve', attempts: 5 });
  expect(count(asked)).toEqual([5, 5]);
});

test.for([
  ['B has no route', [], [5, 8], true],
  ['one request failed otherwise', [problem(503), problem(503)], [6, 8], false],
] as const)(
  'after five fallbacks in a row the client stays with variant A, with one notice (%s)',
  async ([, first, counts, isRouteMissing]) => {
    const { asked } = answer({
      render: [...first, text('', 404)],
      retrieve: [1, 2, 3, 4, 5, 6, 7, 8].map((id) => json({ id, content: `${id}` })),
    });
    const notices: unknown[] = [];
    await using service = disposable({ onNotice: (notice) => notices.push(notice) });
    for (const id of [1, 2, 3, 4, 5, 6, 7, 8])
      expect(await service.get(id)).toMatchObject({ content: `${id}` });
    expect(count(asked)).toEqual(counts);
    expect(notices).toEqual([{ kind: 'render-given-up', isRouteMissing }]);
  },
);

test('a success of variant B resets the count of fallbacks in a row', async () => {
  const missing = text('', 404);
  const { asked } = answer({
    render: [missing, missing, missing, missing, content, missing, missing],
    retrieve: [1, 2, 3, 4, 6, 7].map((id) => json({ id, content: `${id}` })),
  });
  await using service = disposable();
  for (const id of [1, 2, 3, 4, 5, 6, 7]) await service.get(id);
  expect(count(asked)).toEqual([7, 6]);
});

test('a title that is not text is left out', async () => {
  answer({ render: [problem(401, { title: 7 })] });
  await using service = disposable();
  expect((await failureOf(service.get(42))).title).toBeUndefined();
});

test("an error carries the service's problem, and the HTTP status wins over the problem's", async () => {
  answer({ render: [problem(404, { status: 200, detail: 'No snippet 42 here.' })] });
  await using service = disposable();
  const error = await failureOf(service.get(42));
  expect(error).toMatchObject({
    status: 404,
    title: 'Title 404',
    detail: 'No snippet 42 here.',
    type: 'https://service.test/problems/404',
    message: 'Snippet 42 could not be rendered: 404 Title 404: No snippet 42 here.',
  });
});

test("a problem's text is cleaned, and the API key redacted", async () => {
  const detail = `Key ${apiKey} \u001b[31mis\u001b[0m\nunknown\u202e.${'x'.repeat(100_000)}`;
  const type = `https://service.test/\u001b[31m${apiKey}`;
  answer({ render: [problem(401, { detail, title: `Key\n${apiKey}\u0007`, type })] });
  await using service = disposable();
  const error = await failureOf(service.get(42));
  expect(error.detail).toMatch(/^Key \[API key\] is unknown \.x{273}…$/);
  expect(error.detail).toHaveLength(300);
  expect(error.title).toBe('Key [API key]');
  expect(error.type).toBe('https://service.test/[API key]');
  expect(JSON.stringify(error) + error.stack + String(error.cause)).not.toContain(apiKey);
});

test.for([
  ['application/problem+json; charset=utf-8', 'not-found'],
  ['Application/Problem+JSON', 'not-found'],
  [' application/problem+json ;q=1', 'not-found'],
  ['application/json', 'no-route'],
  ['application/problem+jsonx', 'no-route'],
  ['text/application/problem+json', 'no-route'],
])('a 404 with an incomplete problem object and the media type %j is %j', async ([type = '', code]) => {
  answer({
    render: [() => new Response('{"detail":"No."}', { status: 404, headers: { 'content-type': type } })],
  });
  await using service = disposable({ retrieveBaseUrl: undefined });
  expect(await failureOf(service.get(42))).toMatchObject({
    code,
    detail: code === 'not-found' ? 'No.' : undefined,
  });
});

test.for([
  [1, '503 Title 503: Detail of 503.'],
  [2, '503 Title 503: Detail of 503. (2 attempts)'],
] as const)('the message of a failure after %i attempts ends with "%s"', async ([attempts, end]) => {
  answer({ render: [problem(503)] });
  await using service = disposable({ retrieveBaseUrl: undefined, limits: { attempts } });
  expect((await failureOf(service.get(42))).message).toBe(`Snippet 42 could not be rendered: ${end}`);
});

test('a complete problem object is recognized with any media type', async () => {
  const body = { status: 404, title: 'Not Found', detail: 'No.', type: 'https://service.test/404' };
  const { asked } = answer({ render: [json(body, 404)], retrieve: [retrieved] });
  await using service = disposable();
  expect(await failureOf(service.get(42))).toMatchObject({ code: 'not-found', detail: 'No.' });
  expect(count(asked)).toEqual([1, 0]);
});

function disposable(options: Parameters<typeof client>[0] = {}) {
  const created = client(options);
  return Object.assign(created, { [Symbol.asyncDispose]: () => created.close() });
}

/** The number of requests to variants B and A. */
function count(asked: readonly string[]): [render: number, retrieve: number] {
  const render = asked.filter((request) => request.startsWith('render')).length;
  return [render, asked.length - render];
}
