import { request as secureRequest } from 'node:https';
import { describe, expect, test } from 'vitest';
import { sharedService } from '../support/site/built-site.ts';

const service = await sharedService({
  1: 'Hello {{ name }}!{{ missing }}',
  2: '{% if broken %}',
  3: '{{ html | raw }}',
  4: "{% include 'secret' %}",
  5: '{% for a in (1..1000000) %}{% for b in (1..1000000) %}x{% endfor %}{% endfor %}',
});
service.store.snippets.create(service.organizationId, { id: 6, name: 'draft', draft: 'not yet' });

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

function ask(
  path: string,
  { key = service.environment.SNIPPETS_API_KEY, method = 'GET' }: { key?: string; method?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = secureRequest(
      new URL(path, new URL(service.renderBaseUrl).origin),
      {
        method,
        ca: service.certificateAuthority,
        headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => (text += part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

const render = (id: number | string, params?: unknown) =>
  `/delivery/snippets/${id}/render${params === undefined ? '' : `?params=${encodeURIComponent(typeof params === 'string' ? params : JSON.stringify(params))}`}`;
const retrieve = (id: number | string) => `/content/v1/snippets/${id}`;

describe('variables of a template', () => {
  test('are filled in and escaped; a missing one is empty, an unknown one ignored', async () => {
    const { text } = await ask(render(1, { name: '<b>"Zoë" & Co', other: 1 }));
    expect(JSON.parse(text)).toEqual({ content: 'Hello &lt;b&gt;&#34;Zoë&#34; &amp; Co!' });
  });
  test('are not escaped if the template says so', async () => {
    expect(JSON.parse((await ask(render(3, { html: '<b>' }))).text)).toEqual({ content: '<b>' });
  });
  test.for(['[]', '"x"', '{', '1', 'null', ''])(
    'get a 400 if params is not a JSON object: %s',
    async (params) => {
      const { status, text } = await ask(render(1, params));
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({ status: 400, title: 'Bad Request' });
    },
  );
});

test.for([
  ['with a mistake', 2],
  ['that reads files', 4],
  ['that never ends', 5],
] as const)('a template: %s is a 500 with the reason', async ([, id]) => {
  const { status, text } = await ask(render(id));
  expect(status).toBe(500);
  expect(JSON.parse(text).detail).toContain(`Snippet ${id} has a mistake`);
});

describe('the permission of a key:', () => {
  test('a missing or revoked key gets a 401 with a challenge', async () => {
    const { key, secret } = service.store.keys.create(service.organizationId, 'secret', 'short-lived');
    expect((await ask(render(1), { key: secret })).status).toBe(200);
    service.store.keys.revoke(service.organizationId, key.id);
    const revoked = await ask(render(1), { key: secret });
    expect(revoked.status).toBe(401);
    expect(revoked.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(revoked.text).not.toContain(secret);
    expect((await ask(render(1), { key: '' })).headers['www-authenticate']).toBe('Bearer');
  });
  test('a public key may retrieve but not render', async () => {
    expect((await ask(retrieve(1), { key: service.publicKey })).status).toBe(200);
    expect((await ask(render(1), { key: service.publicKey })).status).toBe(403);
  });
  test('an expired subscription gets a 402 before snippets and scopes are checked', async () => {
    service.store.organizations.setSubscription(service.organizationId, 'expired');
    for (const path of [render(1), render(999), retrieve(1)]) expect((await ask(path)).status).toBe(402);
    expect((await ask(render(1), { key: service.publicKey })).status).toBe(402);
    expect((await ask(render(1), { key: 'unknown' })).status).toBe(401);
  });
});

describe('a 404', () => {
  test("is the same for a draft, another organization's snippet and an unknown id", async () => {
    const answers = await Promise.all(
      [6, service.idOfAnotherOrganization, 999_999].map((id) => ask(render(id))),
    );
    const texts = answers.map(
      ({ status, text }) => `${status} ${text.replaceAll(/snippet \d+/g, 'snippet N')}`,
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^404 /);
  });
  test.for(['0', '-1', '1.5', 'abc', '01', '1e2', '%2e%2e', '99999999999999999999'])(
    'is the answer to the invalid id %s',
    async (id) => {
      const { status, headers } = await ask(render(id));
      expect(status).toBe(404);
      expect(headers['content-type']).toBe('application/problem+json');
    },
  );
});

test.for(['POST', 'PUT', 'DELETE'])('the method %s gets a 405', async (method) => {
  const { status, headers } = await ask(render(1), { method });
  expect(status).toBe(405);
  expect(headers['allow']).toBe('GET, HEAD');
});

test('the type of each problem is the URL of a page that explains it', async () => {
  for (const [path, status] of [
    [render(999), 404],
    [render(1, '[]'), 400],
  ] as const) {
    const problem = JSON.parse((await ask(path)).text);
    const page = await fetch(problem.type);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(`<h1>${status} ${problem.title}</h1>`);
  }
});

test('the OpenAPI document describes the answers', async () => {
  const document = JSON.parse((await ask('/openapi.json')).text);
  const { Problem, RenderedSnippet, Snippet } = document.components.schemas;
  const keys = async (path: string) => Object.keys(JSON.parse((await ask(path)).text));
  expect(await keys(render(1))).toEqual(RenderedSnippet.required);
  expect(await keys(retrieve(1))).toEqual(Snippet.required);
  expect(await keys(render(999))).toEqual(Problem.required);
});

test('the request log contains each request with its status, and not an API key that is sent in params', async () => {
  const key = service.environment.SNIPPETS_API_KEY;
  await ask(render(1, { name: key }));
  await ask(retrieve(999));
  const [before, last] = service.requests().slice(-2);
  const params = '{"name":"[API key]"}';
  expect(before).toMatchObject({ variant: 'render', snippetId: '1', params, status: 200 });
  expect(last).toMatchObject({ variant: 'retrieve', snippetId: '999', params: null, status: 404 });
  expect(JSON.stringify(service.requests())).not.toContain(key);
});

test('a fault on demand cuts off answers', async () => {
  service.faults.cut = 1;
  await expect(ask(render(1))).rejects.toThrow(/aborted|hang up/);
});
