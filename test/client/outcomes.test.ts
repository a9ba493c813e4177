import { expect, test } from 'vitest';
import { SnippetError } from '../../src/client/index.ts';
import {
  answer,
  answerRequests,
  apiKey,
  client,
  connectionFails,
  json,
  problem,
  text,
} from '../support/network.ts';

answerRequests();

const content = json({ content: 'rendered' });
const retrieved = json({ id: 42, content: 'retrieved' });

// Each row of the rule from variant B to variant A, through the public client: what B answers, the outcome
// while A would answer, and the requests made.
const fromB = [
  // 200
  { b: 'a string content', answer: content, gives: 'rendered', render: 1, retrieve: 0 },
  { b: 'an empty content', answer: json({ content: '' }), gives: '', render: 1, retrieve: 0 },
  { b: 'more fields', answer: json({ content: 'x', more: 1 }), gives: 'x', render: 1, retrieve: 0 },
  { b: 'no content', answer: json({ id: 42 }), gives: 'retrieved', render: 2, retrieve: 1 },
  {
    b: 'a content that is no string',
    answer: json({ content: 7 }),
    gives: 'retrieved',
    render: 2,
    retrieve: 1,
  },
  { b: 'an array', answer: json(['x']), gives: 'retrieved', render: 2, retrieve: 1 },
  { b: 'cut JSON', answer: text('{"content":"ren'), gives: 'retrieved', render: 2, retrieve: 1 },
  { b: 'a page', answer: text('<h1>Welcome</h1>'), gives: 'retrieved', render: 2, retrieve: 1 },
  {
    b: 'a content that is not UTF-8',
    answer: () => new Response(Buffer.from('{"content":"caf\xe9"}', 'latin1')),
    gives: 'retrieved',
    render: 2,
    retrieve: 1,
  },
  // The key serves every request.
  { b: '401', answer: problem(401), fails: 'unauthorized', render: 1, retrieve: 0 },
  { b: '401 without a problem', answer: text('', 401), fails: 'unauthorized', render: 1, retrieve: 0 },
  { b: '402', answer: problem(402), fails: 'payment-required', render: 1, retrieve: 0 },
  { b: '402 without a problem', answer: text('', 402), fails: 'payment-required', render: 1, retrieve: 0 },
  // This snippet fails.
  { b: '403', answer: problem(403), fails: 'forbidden', render: 1, retrieve: 0 },
  { b: '403 without a problem', answer: text('', 403), fails: 'forbidden', render: 1, retrieve: 0 },
  { b: '404', answer: problem(404), fails: 'not-found', render: 1, retrieve: 0 },
  // The route is not there.
  ...[404, 405, 410, 501].map((status) => ({
    b: `${status} without a problem`,
    answer: text('nothing here', status),
    gives: 'retrieved',
    render: 1,
    retrieve: 1,
  })),
  {
    b: '404 with JSON of a gateway',
    answer: json({ message: 'no Route matched' }, 404),
    gives: 'retrieved',
    render: 1,
    retrieve: 1,
  },
  // May be temporary: two attempts, then A.
  ...[408, 429, 500, 502, 503, 504].flatMap((status) => [
    { b: `${status}`, answer: problem(status), gives: 'retrieved', render: 2, retrieve: 1 },
    {
      b: `${status} without a problem`,
      answer: text('', status),
      gives: 'retrieved',
      render: 2,
      retrieve: 1,
    },
  ]),
  { b: 'a network failure', answer: connectionFails, gives: 'retrieved', render: 2, retrieve: 1 },
  // Any other status; a redirect, which is never followed.
  ...[201, 204, 400, 406, 409, 418, 422, 451, 505, 511].map((status) => ({
    b: `${status}`,
    answer: status === 204 ? () => new Response(null, { status }) : problem(status),
    fails: 'unexpected-status',
    render: 1,
    retrieve: 0,
  })),
  ...[405, 410, 501].map((status) => ({
    b: `${status} with a problem`,
    answer: problem(status),
    fails: 'unexpected-status',
    render: 1,
    retrieve: 0,
  })),
  ...[300, 301, 302, 303, 307, 308].map((status) => ({
    b: `${status}`,
    answer: text('', status, { location: 'https://elsewhere.test/' }),
    fails: 'redirect',
    render: 1,
    retrieve: 0,
  })),
];

test.for(fromB)('variant B answers with $b', async (row) => {
  const { asked } = answer({ render: [row.answer], retrieve: [retrieved] });
  await using service = disposable();
  const outcome = await service.get(42).catch((error: unknown) => error);
  if ('fails' in row) expect(outcome).toMatchObject({ name: 'SnippetError', code: row.fails, snippetId: 42 });
  else
    expect(outcome).toMatchObject({ content: row.gives, variant: row.retrieve > 0 ? 'retrieve' : 'render' });
  expect(count(asked)).toEqual({ render: row.render, retrieve: row.retrieve });
});

// What variant A answers after B was found absent. One attempt was B's, so four are left.
const fromA = [
  { a: 'a content', answer: retrieved, gives: 'retrieved', retrieve: 1 },
  { a: 'an empty content', answer: json({ id: 42, content: '' }), gives: '', retrieve: 1 },
  { a: 'no content', answer: json({ id: 42, name: 'A name' }), fails: 'no-content', retrieve: 1 },
  { a: 'a content of null', answer: json({ id: 42, content: null }), fails: 'no-content', retrieve: 1 },
  {
    a: 'a name of null',
    answer: json({ id: 42, name: null, content: 'retrieved' }),
    gives: 'retrieved',
    retrieve: 1,
  },
  { a: 'another id', answer: json({ id: 43, content: 'x' }), fails: 'bad-answer', retrieve: 4 },
  { a: 'no id', answer: json({ content: 'x' }), fails: 'bad-answer', retrieve: 4 },
  { a: '401', answer: problem(401), fails: 'unauthorized', retrieve: 1 },
  { a: '402', answer: problem(402), fails: 'payment-required', retrieve: 1 },
  { a: '403', answer: problem(403), fails: 'forbidden', retrieve: 1 },
  { a: '404', answer: problem(404), fails: 'not-found', retrieve: 1 },
  { a: '404 without a problem', answer: text('', 404), fails: 'no-route', retrieve: 1 },
  { a: '405 without a problem', answer: text('', 405), fails: 'no-route', retrieve: 1 },
  { a: '408', answer: problem(408), fails: 'timeout', retrieve: 4 },
  { a: '429', answer: problem(429), fails: 'rate-limited', retrieve: 4 },
  { a: '500', answer: problem(500), fails: 'server-error', retrieve: 4 },
  { a: '503', answer: text('', 503), fails: 'server-error', retrieve: 4 },
  { a: 'a network failure', answer: connectionFails, fails: 'network', retrieve: 4 },
  { a: 'cut JSON', answer: text('{"id":42,"conte'), fails: 'bad-answer', retrieve: 4 },
  { a: '302', answer: text('', 302, { location: '/' }), fails: 'redirect', retrieve: 1 },
  { a: '418', answer: problem(418), fails: 'unexpected-status', retrieve: 1 },
];

test.for(fromA)('variant B is absent and variant A answers with $a', async (row) => {
  const { asked } = answer({ render: [text('', 404)], retrieve: [row.answer] });
  await using service = disposable();
  const outcome = await service.get(42).catch((error: unknown) => error);
  if ('fails' in row)
    expect(outcome).toMatchObject({ name: 'SnippetError', code: row.fails, variant: 'retrieve' });
  else expect(outcome).toMatchObject({ content: row.gives, variant: 'retrieve' });
  expect(count(asked)).toEqual({ render: 1, retrieve: row.retrieve });
});

test('the name that variant A sends is part of the snippet', async () => {
  answer({ render: [text('', 404)], retrieve: [json({ id: 42, name: 'A name', content: 'x' })] });
  await using service = disposable();
  expect(await service.get(42)).toMatchObject({ content: 'x', variant: 'retrieve', name: 'A name' });
});

test('both variants share five attempts: two for B, three for A', async () => {
  const { asked } = answer({ render: [problem(503)], retrieve: [problem(503)] });
  await using service = disposable();
  const error = await failureOf(service.get(42));
  expect(error).toMatchObject({ code: 'server-error', status: 503, variant: 'retrieve', attempts: 5 });
  expect(count(asked)).toEqual({ render: 2, retrieve: 3 });
});

test('a variant without a fallback has all five attempts', async () => {
  const { asked } = answer({ render: [problem(500)], retrieve: [problem(500)] });
  await using onlyB = disposable({ retrieveBaseUrl: undefined });
  await using onlyA = disposable({ renderBaseUrl: undefined });
  expect(await failureOf(onlyB.get(42))).toMatchObject({ variant: 'render', attempts: 5 });
  expect(await failureOf(onlyA.get(42))).toMatchObject({ variant: 'retrieve', attempts: 5 });
  expect(count(asked)).toEqual({ render: 5, retrieve: 5 });
});

test('a 404 without a problem object is "no-route" if there is no fallback', async () => {
  answer({ render: [text('', 404)] });
  await using service = disposable({ retrieveBaseUrl: undefined });
  expect(await failureOf(service.get(42))).toMatchObject({ code: 'no-route', status: 404, attempts: 1 });
});

test('a temporary failure is retried and counted', async () => {
  const { asked } = answer({ render: [problem(503), content] });
  await using service = disposable();
  expect(await service.get(42)).toMatchObject({ content: 'rendered', variant: 'render' });
  expect(asked).toHaveLength(2);
  expect(service.counts).toEqual({ requests: 2, retries: 1, fallbacks: 0 });
});

test('after five fallbacks in a row the client stays with variant A, with one notice', async () => {
  const { asked } = answer({
    render: [text('', 404)],
    retrieve: [1, 2, 3, 4, 5, 6, 7, 8].map((id) => json({ id, content: `${id}` })),
  });
  const notices: unknown[] = [];
  await using service = disposable({ onNotice: (notice) => notices.push(notice) });
  for (const id of [1, 2, 3, 4, 5, 6, 7, 8])
    expect(await service.get(id)).toMatchObject({ content: `${id}` });
  expect(count(asked)).toEqual({ render: 5, retrieve: 8 });
  expect(notices).toEqual([{ kind: 'render-given-up' }]);
});

test('a success of variant B resets the count of fallbacks in a row', async () => {
  const missing = text('', 404);
  const { asked } = answer({
    render: [missing, missing, missing, missing, content, missing, missing],
    retrieve: [1, 2, 3, 4, 6, 7].map((id) => json({ id, content: `${id}` })),
  });
  await using service = disposable();
  for (const id of [1, 2, 3, 4, 5, 6, 7]) await service.get(id);
  expect(count(asked)).toEqual({ render: 7, retrieve: 6 });
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

test('a problem detail and type are cleaned and the API key is redacted', async () => {
  const detail = `Key ${apiKey} \u001b[31mis\u001b[0m\nunknown\u202e.${'x'.repeat(100_000)}`;
  const type = `https://service.test/\u001b[31m${apiKey}`;
  answer({ render: [problem(401, { detail, title: 7, type })] });
  await using service = disposable();
  const error = await failureOf(service.get(42));
  expect(error.detail).toMatch(/^Key \[API key\] is unknown \.x{273}…$/);
  expect(error.detail).toHaveLength(300);
  expect(error.title).toBeUndefined();
  expect(error.type).toBe('https://service.test/[API key]');
  expect(JSON.stringify(error) + error.stack + String(error.cause)).not.toContain(apiKey);
});

test('a problem title is cleaned and the API key is redacted', async () => {
  answer({ render: [problem(401, { title: `Key\n${apiKey}\u0007` })] });
  await using service = disposable();
  expect((await failureOf(service.get(42))).title).toBe('Key [API key]');
});

test.for([
  'application/problem+json; charset=utf-8',
  'Application/Problem+JSON',
  ' application/problem+json ;q=1',
])('an incomplete problem object is recognized with the media type %j', async (type) => {
  answer({
    render: [() => new Response('{"detail":"No."}', { status: 404, headers: { 'content-type': type } })],
  });
  await using service = disposable();
  expect(await failureOf(service.get(42))).toMatchObject({ code: 'not-found', detail: 'No.' });
});

test.for(['application/json', 'application/problem+jsonx', 'text/application/problem+json'])(
  'an incomplete problem object is not recognized with the media type %s',
  async (type) => {
    answer({
      render: [() => new Response('{"detail":"No."}', { status: 404, headers: { 'content-type': type } })],
    });
    await using service = disposable({ retrieveBaseUrl: undefined });
    expect(await failureOf(service.get(42))).toMatchObject({ code: 'no-route' });
  },
);

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
  expect(count(asked)).toEqual({ render: 1, retrieve: 0 });
});

function disposable(options: Parameters<typeof client>[0] = {}) {
  const created = client(options);
  return Object.assign(created, { [Symbol.asyncDispose]: () => created.close() });
}

async function failureOf(promise: Promise<unknown>): Promise<SnippetError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SnippetError);
  return error as SnippetError;
}

function count(asked: readonly string[]): { render: number; retrieve: number } {
  const render = asked.filter((request) => request.startsWith('render')).length;
  return { render, retrieve: asked.length - render };
}
