import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../playground/service/index.ts';
import type { Publication, Publisher } from '../../playground/service/publisher.ts';

let service: Service;
let mine: number;
let theirs: number;
let cookie: string;
const published: Publication[] = [];
const publisher: Publisher = {
  siteUrl: 'http://localhost:1',
  publish: () =>
    void published.push({ state: 'failed', how: 'build', startedAt: 0, output: 'what the build <said>' }),
  latest: () => published.at(-1),
  shown: () => undefined,
  previewHead: () => '',
  apiKey: () => undefined,
};

beforeAll(async () => {
  service = await startService({ publisher });
  const [first, second] = service.store.organizations.list();
  mine = first?.id ?? 0;
  theirs = second?.id ?? 0;
  cookie = await signIn(mine);
});
afterAll(() => service.close());

async function signIn(organization: number): Promise<string> {
  const answer = await fetch(service.loginLink(organization), { redirect: 'manual' });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

function open(path: string, session = cookie): Promise<Response> {
  return fetch(service.websiteUrl + path, { headers: { cookie: session }, redirect: 'manual' });
}

/** Sends a form, as a browser without script would. */
function send(
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(service.websiteUrl + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { cookie, origin: service.websiteUrl, ...headers },
    redirect: 'manual',
  });
}

describe('the session of the website', () => {
  test('is required for every page', async () => {
    for (const path of [
      '/',
      '/snippets',
      '/snippets/41',
      '/keys',
      '/requests',
      '/faults',
      '/account',
      '/account/webhook',
    ]) {
      const answer = await open(path, '');
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toContain('Northwind');
    }
  });
  test('starts with a login link that works once, and a cookie for this website only', async () => {
    const link = service.loginLink(mine);
    const first = await fetch(link, { redirect: 'manual' });
    expect(first.status).toBe(303);
    expect(first.headers.get('set-cookie')).toMatch(/; HttpOnly/);
    expect(first.headers.get('set-cookie')).toMatch(/; SameSite=Lax/);
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(401);
    expect((await fetch(`${service.websiteUrl}/login/guessed`, { redirect: 'manual' })).status).toBe(401);
  });
  test('ends after signing out', async () => {
    const session = await signIn(mine);
    expect((await open('/snippets', session)).status).toBe(200);
    await send('/sign-out', {}, { cookie: session });
    expect((await open('/snippets', session)).status).toBe(401);
  });
});

describe('a request to the website', () => {
  const change = [
    '/snippets/41',
    { name: 'Changed', draft: 'changed', sample: '{}', action: 'save' },
  ] as const;
  test.for([
    ['no origin', { origin: '' }],
    ['another origin', { origin: 'https://evil.test' }],
    ['another port of this machine', { origin: 'http://localhost:1' }],
    ['an opaque origin', { origin: 'null' }],
  ] as const)('is rejected with %s', async ([, headers]) => {
    expect((await send(...change, headers)).status).toBe(403);
    expect(service.store.snippets.get(mine, 41)?.name).toBe('Announcement banner');
  });
  test('is rejected with another host name', async () => {
    const { port } = new URL(service.websiteUrl);
    const status = await new Promise((resolve) => {
      request({ port, host: '127.0.0.1', headers: { host: `evil.test:${port}` } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(421);
  });
  test('gets a page that loads nothing from other hosts and cannot be framed', async () => {
    const { headers } = await open('/snippets/41');
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });
});

describe('snippets on the website', () => {
  test('are listed, and found by name and id', async () => {
    expect(await (await open('/snippets')).text()).toContain('Price card');
    const byName = await (await open('/snippets?search=PRICE')).text();
    expect(byName).toContain('Price card');
    expect(byName).not.toContain('Legal notice');
    expect(await (await open('/snippets?search=44')).text()).toContain('Legal notice');
    expect(await (await open('/snippets?search=%3Cscript%3E')).text()).toContain('No snippet matches.');
  });
  test('are added, edited, published and rolled back without JavaScript', async () => {
    const added = await send('/snippets', { name: 'From a test' });
    const path = added.headers.get('location') ?? '';
    const id = Number(path.split('/').at(-1));
    const edit = (draft: string, action: string) =>
      send(path, { name: 'From a test', draft, sample: '{}', action });
    await edit('first\r\nline', 'save');
    expect(service.store.snippets.published(mine, id)).toBeUndefined();
    await edit('first', 'publish');
    await edit('second', 'publish');
    expect(service.store.snippets.published(mine, id)?.content).toBe('second');
    await send(`${path}/roll-back`, { number: '1' });
    expect(service.store.snippets.published(mine, id)?.content).toBe('first');
    expect(service.store.snippets.versions(mine, id)).toHaveLength(3);
  });
  test('are previewed in a sandboxed frame without being saved', async () => {
    const typed = { name: 'x', draft: '<b>{{ who }}</b><script>1</script>', sample: '{"who":"<you>"}' };
    const page = await (await send('/snippets/42', { ...typed, action: 'preview' })).text();
    expect(page).toMatch(/<iframe[^>]* sandbox /);
    expect(page).toContain('srcdoc="&lt;b&gt;&amp;lt;you&amp;gt;&lt;/b&gt;');
    expect(await (await send('/snippets/42/preview', typed)).json()).toEqual({
      content: '<b>&lt;you&gt;</b><script>1</script>',
      embeds: {
        component: '<Snippet id={42} params={{"who":"<you>"}} />',
        element: `<snippet-embed id="42" params='{"who":"&lt;you>"}'></snippet-embed>`,
      },
    });
    expect(service.store.snippets.get(mine, 42)?.name).toBe('Free-shipping line');
  });
  test.for([
    ['{% if x %}', '{}', 'not closed'],
    ['fine', '[1]', 'not a JSON object'],
  ] as const)(
    'are neither published nor lost if they cannot be rendered: %s with sample %s',
    async ([draft, sample, message]) => {
      const answer = await send('/snippets/42', { name: 'Kept', draft, sample, action: 'publish' });
      expect(answer.status).toBe(422);
      const page = await answer.text();
      expect(page).toContain(message);
      expect(page).toContain(draft);
      expect(service.store.snippets.get(mine, 42)?.name).toBe('Free-shipping line');
    },
  );
  test('show the output of the build as escaped text', async () => {
    await send('/account/site', {});
    const page = await (await open('/snippets/42?published')).text();
    expect(page).toContain('what the build &lt;said&gt;');
  });
  test.for(['//evil.test', '/\\evil.test', 'https://evil.test', 'javascript:alert(1)'])(
    'link back only to a path of the site, not to %s',
    async (page) => {
      published.push({ state: 'done', how: 'build', startedAt: 0, finishedAt: 1, output: '' });
      const shown = await (await open(`/snippets/42?published&page=${encodeURIComponent(page)}`)).text();
      expect(shown).toContain('href="http://localhost:1/"');
      expect(shown).not.toContain('evil.test');
    },
  );
});

test('no page of the website shows or changes data of another organization', async () => {
  const [snippet] = service.store.snippets.list(theirs);
  const id = snippet?.id ?? 0;
  const { key } = service.store.keys.create(theirs, 'secret', 'Their key');
  const before = service.store.snippets.get(theirs, id);
  expect(await (await open('/snippets')).text()).not.toContain(snippet?.name);
  expect(await (await open(`/snippets?search=${id}`)).text()).not.toContain(snippet?.name);
  expect(await (await open('/keys')).text()).not.toContain('Their key');
  const form = { name: 'Mine now', draft: 'mine', sample: '{}' };
  for (const answer of await Promise.all([
    open(`/snippets/${id}`),
    send(`/snippets/${id}`, { ...form, action: 'save' }),
    send(`/snippets/${id}`, { ...form, action: 'publish' }),
    send(`/snippets/${id}/preview`, form),
    send(`/snippets/${id}/draft`, form),
    send(`/snippets/${id}/discard`, { confirm: 'yes' }),
    send(`/snippets/${id}/roll-back`, { number: '1' }),
    send(`/snippets/${id}/unpublish`, { confirm: 'yes' }),
    send(`/snippets/${id}/delete`, { confirm: 'yes' }),
    open(`/snippets/${id}/versions/1`),
    send(`/keys/${key.id}/revoke`, {}),
  ])) {
    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain(snippet?.draft);
  }
  expect(service.store.snippets.get(theirs, id)).toEqual(before);
  expect(service.store.keys.list(theirs).every(({ revokedAt }) => revokedAt === null)).toBe(true);
});

test('the website shows a new key once', async () => {
  const answer = await send('/keys', { name: 'Shown once', kind: 'secret' });
  const secret = /sk_[\w-]{43}/.exec(await answer.text())?.[0] ?? '';
  expect(service.store.keys.find(secret)?.name).toBe('Shown once');
  expect(await (await open('/keys')).text()).not.toContain(secret.slice(0, 20));
});

test('the website refuses a name of a key that is too long, and creates none', async () => {
  const answer = await send('/keys', { name: 'n'.repeat(101), kind: 'secret' });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain('The name has more than 100 characters.');
  expect(await (await open('/keys')).text()).not.toContain('nnn');
});

test('the website switches faults on and off, and rejects invalid values', async () => {
  const form = {
    failing: '30',
    failingStatus: '502',
    retryAfter: '5',
    latency: '20',
    cut: '10',
    renderAbsent: 'on',
  };
  await send('/faults', form);
  expect(service.faults).toMatchObject({
    failing: 0.3,
    failingStatus: 502,
    retryAfter: '5',
    latency: 20,
    cut: 0.1,
    renderAbsent: true,
  });
  expect((await send('/faults', { ...form, failing: '300' })).status).toBe(422);
  expect(service.faults.failing).toBe(0.3);
  await send('/faults/none', {});
  expect(service.faults).toMatchObject({ failing: 0, latency: 0, cut: 0, renderAbsent: false });
});

test('the website expires and renews the subscription', async () => {
  await send('/account/subscription', { subscription: 'expired' });
  expect(service.store.organizations.get(mine)?.subscription).toBe('expired');
  await send('/account/subscription', { subscription: 'active' });
  expect(service.store.organizations.get(mine)?.subscription).toBe('active');
});

describe('what the website accepts is limited:', () => {
  const tooLong = {
    name: 'n'.repeat(201),
    draft: 'd'.repeat(200_001),
    sample: `{"a":"${'s'.repeat(8_000)}"}`,
  };
  const form = { name: 'Fine', draft: '<b>fine</b>', sample: '{}' };

  test('a body of unknown length is refused as soon as it is too long, and not read further', async () => {
    const { hostname, port } = new URL(service.websiteUrl);
    const headers = {
      cookie,
      origin: service.websiteUrl,
      'content-type': 'application/x-www-form-urlencoded',
    };
    let sent = 0;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sending = request({ hostname, port, method: 'POST', path: '/snippets', headers }, (answer) => {
        resolve(answer.statusCode);
        sending.destroy();
      });
      sending.once('error', reject);
      // Without end, until the answer comes.
      const write = () => {
        if (sending.destroyed) return;
        sent += 100_000;
        sending.write('x'.repeat(100_000), () => setImmediate(write));
      };
      write();
    });
    expect(status).toBe(413);
    expect(sent).toBeLessThan(60_000_000);
  });

  test.for(['name', 'draft', 'sample'] as const)(
    'a %s that is too long is neither saved nor previewed',
    async (field) => {
      const { id } = service.store.snippets.create(mine, form);
      const long = { ...form, [field]: tooLong[field] };
      for (const action of ['save', 'publish', 'preview']) {
        const answer = await send(`/snippets/${id}`, { ...long, action });
        expect(answer.status).toBe(422);
        expect(await answer.text()).toMatch(/(has|have) more than (200|200000|8000) characters\./);
      }
      expect(await (await send(`/snippets/${id}/preview`, long)).json()).toHaveProperty('error');
      expect(service.store.snippets.get(mine, id)).toMatchObject({ ...form, published: null });
    },
  );

  test('a new snippet with a name that is too long is refused', async () => {
    const before = service.store.snippets.list(mine);
    const answer = await send('/snippets', { name: tooLong.name });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('The name has more than 200 characters.');
    expect(service.store.snippets.list(mine)).toEqual(before);
  });

  test('texts of the greatest length are saved, even if each character takes nine bytes in a form', async () => {
    const { id } = service.store.snippets.create(mine, form);
    const longest = {
      name: 'n'.repeat(200),
      draft: '€'.repeat(200_000),
      sample: `{"a":"${'s'.repeat(7_992)}"}`,
    };
    expect((await send(`/snippets/${id}`, { ...longest, action: 'save' })).status).toBe(303);
    expect(service.store.snippets.get(mine, id)).toMatchObject(longest);
  });
});
