import { request as plainRequest } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { type Answer, get, serviceUnderTest } from './service.ts';

const service = await serviceUnderTest();
afterAll(() => service.close());

const retrieve = (id: number | string, query = '') => `${service.retrieveBaseUrl}/snippets/${id}${query}`;
const render = (id: number | string, query = '') => `${service.renderBaseUrl}/snippets/${id}/render${query}`;
const variants = [
  ['A (retrieve)', retrieve],
  ['B (render)', render],
] as const;

/** Section 2, the error object; section 7, its media type. */
function expectProblem({ status, contentType, json }: Answer, expected: number): void {
  expect(status).toBe(expected);
  expect(contentType).toMatch(/^application\/problem\+json\b/);
  expect(json).toEqual({
    status: expected,
    title: expect.stringMatching(/./),
    detail: expect.stringMatching(/./),
    type: expect.stringMatching(/^https?:\/\//),
  });
}

describe('section 4.1: retrieve', () => {
  test('a success is 200 and a snippet object', async () => {
    const { status, json } = await get(service, retrieve(service.snippetId));
    expect(status).toBe(200);
    expect(json).toMatchObject({ id: service.snippetId });
    const { name, content } = json as Record<string, unknown>;
    for (const field of [name, content]) expect(['string', 'undefined']).toContain(typeof field);
  });
});

describe('section 4.2: render', () => {
  test('a success is 200 and an object with the field content', async () => {
    const { status, json } = await get(service, render(service.snippetId));
    expect(status).toBe(200);
    expect(json).toEqual({ content: expect.any(String) });
  });

  test('variables that the snippet does not use are ignored', async () => {
    const plain = await get(service, render(service.snippetId));
    const more = await get(
      service,
      render(service.snippetId, `?params=${encodeURIComponent('{"unused":[1,{"a":null}]}')}`),
    );
    expect(more.status).toBe(200);
    expect(more.json).toEqual(plain.json);
  });
});

describe.for(variants)('variant %s', ([, urlOf]) => {
  test('params is a URL-encoded JSON object', async () => {
    const params = encodeURIComponent(JSON.stringify({ name: 'Zoë & "Co" 💡' }));
    expect((await get(service, urlOf(service.snippetId, `?params=${params}`))).status).toBe(200);
  });

  test('section 5.5: a request without authentication fails', async () => {
    expectProblem(await get(service, urlOf(service.snippetId), ''), 401);
  });

  test.for(['Bearer not-a-key', 'Bearer', 'Basic dXNlcjpwYXNz', 'nonsense'])(
    'section 5.6: 401 means that no valid API key was provided: "%s"',
    async (authorization) => {
      expectProblem(await get(service, urlOf(service.snippetId), authorization), 401);
    },
  );

  test('an unknown snippet, or one of another organization, gets a 404', async () => {
    expectProblem(await get(service, urlOf(service.unknownId)), 404);
  });

  test('section 5.4: a request over plain HTTP fails', async () => {
    const url = new URL(urlOf(service.snippetId));
    const outcome = await new Promise<number | string>((resolve) => {
      const sent = plainRequest(
        {
          host: url.hostname,
          port: url.port || 80,
          path: url.pathname,
          headers: { authorization: `Bearer ${service.apiKey}` },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sent.on('error', (error) => resolve(error.message));
      sent.end();
    });
    expect(outcome).not.toBe(200);
  });
});
