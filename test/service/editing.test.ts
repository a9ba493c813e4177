import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../playground/service/index.ts';
import type { Publication, Publisher, ShownPlaces } from '../../playground/service/publisher.ts';

let service: Service;
let cookie: string;
let organization: number;
let latest: Publication | undefined;
let published = 0;
let places: ShownPlaces | undefined;
let siteKey = '';
const links: string[] = [];
const publisher: Publisher = {
  siteUrl: 'http://localhost:1',
  publish() {
    published += 1;
  },
  latest: () => latest,
  shown: () => places,
  previewHead: () => '<style>b { color: red }</style>',
  apiKey: () => siteKey,
};

beforeAll(async () => {
  service = await startService({
    publisher,
    onLinkWanted: () => {
      links.push(service.loginLink(organization));
    },
  });
  organization = service.store.organizations.list()[0]?.id ?? 0;
  const answer = await fetch(service.loginLink(organization), { redirect: 'manual' });
  cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
});
beforeEach(() => {
  latest = undefined;
  published = 0;
  places = { pages: ['index.html', 'pricing/index.html'], entries: ['offers/spring'] };
});
afterAll(() => service.close());

async function open(path: string): Promise<string> {
  return (await fetch(service.websiteUrl + path, { headers: { cookie } })).text();
}

function send(path: string, fields: Record<string, string>, session = cookie): Promise<Response> {
  return fetch(service.websiteUrl + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { cookie: session, origin: service.websiteUrl },
    redirect: 'manual',
  });
}

/** A published snippet. */
function add(draft: string): { id: number; path: string; form: Record<string, string> } {
  const { snippets } = service.store;
  const { id } = snippets.create(organization, { name: 'Edited here', draft });
  snippets.publish(organization, id);
  return { id, path: `/snippets/${id}`, form: { name: 'Edited here', draft, sample: '{}' } };
}

const stored = (id: number) => service.store.snippets.get(organization, id);

describe('a draft', () => {
  test('that differs from what is published is marked in the list and on its page', async () => {
    const { path, form, id } = add('one');
    const row = async () =>
      new RegExp(`<tr>(?:(?!</tr>)[^])*"${path}"(?:(?!</tr>)[^])*</tr>`).exec(await open('/snippets'))?.[0];
    expect(await row()).not.toContain('unpublished changes');
    expect(await open(path)).not.toContain('unpublished changes');
    await send(path, { ...form, draft: 'two', action: 'save' });
    expect(await row()).toContain('unpublished changes');
    expect(await open(path)).toContain('unpublished changes');
    service.store.snippets.publish(organization, id);
    expect(await row()).not.toContain('unpublished changes');
  });
  test('that was never published survives a rollback', async () => {
    const { path, form, id } = add('one');
    await send(path, { ...form, draft: 'two', action: 'publish' });
    await send(path, { ...form, draft: 'not published yet', action: 'save' });
    await send(`${path}/roll-back`, { number: '1' });
    expect(stored(id)).toMatchObject({ draft: 'not published yet', publishedContent: 'one' });
  });
  test('sent after the session has ended gets a page with what was typed', async () => {
    const { path, form, id } = add('one');
    const answer = await send(path, { ...form, draft: '<b>two', action: 'save' }, 'snippets-session=ended');
    expect(answer.status).toBe(401);
    const page = await answer.text();
    expect(page).toContain('Not saved: you are not signed in any more.');
    expect(page).toContain('&lt;b&gt;two</pre>');
    expect(stored(id)?.draft).toBe('one');
  });
  test('of a snippet that is not published cannot be discarded', async () => {
    const { id } = service.store.snippets.create(organization, { name: 'New', draft: 'one' });
    expect(await open(`/snippets/${id}`)).not.toContain('Discard the draft');
    expect((await send(`/snippets/${id}/discard`, { confirm: 'yes' })).status).toBe(404);
    expect(stored(id)?.draft).toBe('one');
  });
});

test('no page with a form for text loads itself again while the site is being updated', async () => {
  const { path } = add('one');
  latest = { state: 'running', how: 'refresh', startedAt: 0, output: '' };
  for (const page of [path, `${path}?published`, '/snippets']) {
    expect(await open(page)).not.toContain('http-equiv="refresh"');
  }
});

describe('publishing', () => {
  test.for(['', ' \n', '{% if plan %}text{% endif %}'])(
    'content that shows nothing is asked about: %j',
    async (draft) => {
      const { path, form, id } = add('one');
      const answer = await send(path, { ...form, draft, action: 'publish' });
      expect(answer.status).toBe(422);
      expect(await answer.text()).toContain('Publish it empty');
      expect(stored(id)).toMatchObject({ draft: 'one', publishedContent: 'one' });
      expect(published).toBe(0);
      await send(path, { ...form, draft, action: 'publish-empty' });
      expect(stored(id)?.publishedContent).toBe(draft);
      expect(published).toBe(1);
    },
  );
  test('says that no page embeds the snippet', async () => {
    places = { pages: [], entries: [] };
    latest = { state: 'done', how: 'build', startedAt: 1_000, finishedAt: 3_500, output: '' };
    expect(await open('/publication?id=49')).toContain('no page of the site embeds it yet');
  });
  test('that failed says that it arrives by itself, and when it is tried next', async () => {
    const retryAt = Date.UTC(2026, 0, 1, 12, 30, 15);
    latest = { state: 'failed', how: 'refresh', startedAt: 0, retryAt, output: 'why <not>' };
    const notice = await open('/publication');
    expect(notice).toContain('The site could not be updated.');
    expect(notice).toContain('12:30:15 UTC');
    expect(notice).toContain('arrives by itself');
    expect(notice).toContain('why &lt;not&gt;');
  });
  test.for([
    ['the subscription is renewed', '/account/subscription', { subscription: 'active' }],
    ['the faults are ended', '/faults/none', {}],
  ] as const)('that failed is tried again at once when %s', async ([, path, fields]) => {
    latest = { state: 'done', how: 'refresh', startedAt: 0, output: '' };
    await send(path, fields);
    expect(published).toBe(0);
    latest = { state: 'failed', how: 'refresh', startedAt: 0, output: '' };
    await send(path, fields);
    expect(published).toBe(1);
  });
});

describe.for(['unpublish', 'delete'] as const)('to %s a snippet', (way) => {
  test('is asked about, with every place that shows it', async () => {
    const { path, id } = add('one');
    expect((await send(`${path}/${way}`, {})).headers.get('location')).toBe(`${path}/${way}`);
    expect(stored(id)?.published).toBe(1);
    const page = await open(`${path}/${way}`);
    expect(page).toContain('The site shows it on 2 pages, 1 entry of collections.');
    for (const place of ['http://localhost:1/"', 'http://localhost:1/pricing/"', 'offers/spring']) {
      expect(page).toContain(place);
    }
  });
  test('says so where the site has no record of a build', async () => {
    places = undefined;
    expect(await open(`${add('one').path}/${way}`)).toContain('Which pages show it is not known');
  });
});

test('an unpublished snippet keeps its draft and its versions, and can be published again', async () => {
  const { path, form, id } = add('one');
  await send(`${path}/unpublish`, { confirm: 'yes' });
  expect(stored(id)).toMatchObject({ draft: 'one', published: null });
  expect(service.store.snippets.published(organization, id)).toBeUndefined();
  await send(path, { ...form, draft: 'two', action: 'publish' });
  expect(service.store.snippets.versions(organization, id)).toHaveLength(2);
  expect(service.store.snippets.published(organization, id)?.content).toBe('two');
});

test('a deleted snippet is in no list, and its id is not given to another one', async () => {
  const { path, id } = add('one');
  const answer = await send(`${path}/delete`, { confirm: 'yes' });
  expect(answer.headers.get('location')).toBe(`/snippets?deleted=${id}`);
  expect(stored(id)).toBeUndefined();
  expect(service.store.snippets.versions(organization, id)).toEqual([]);
  expect(service.store.snippets.list(organization).map((snippet) => snippet.id)).not.toContain(id);
  expect(service.store.snippets.create(organization, { name: 'next' }).id).not.toBe(id);
  expect(await open(`/snippets?deleted=${id}`)).toContain(`Snippet ${id} is deleted.`);
  expect((await fetch(service.websiteUrl + path, { headers: { cookie } })).status).toBe(404);
});

test('a version is shown in full', async () => {
  const long = `<p>${'long '.repeat(400)}end</p>`;
  const { path, form } = add(long);
  await send(path, { ...form, draft: 'short', action: 'publish' });
  expect(await open(path)).not.toContain(`${'long '.repeat(50)}`);
  const page = await open(`${path}/versions/1`);
  expect(page).toContain(`&lt;p&gt;${'long '.repeat(400)}end&lt;/p&gt;`);
  expect(page).toContain('Roll back to 1');
  expect(page).toContain('srcdoc="&lt;style&gt;b { color: red }&lt;/style&gt;&lt;p&gt;long');
});

describe('revoking a key', () => {
  const create = () => service.store.keys.create(organization, 'secret', 'Build');
  const isRevoked = (id: number) =>
    service.store.keys.list(organization).find((key) => key.id === id)?.revokedAt !== null;

  test('is asked about first', async () => {
    const { key } = create();
    const path = `/keys/${key.id}/revoke`;
    expect((await send(path, {})).headers.get('location')).toBe(path);
    expect(isRevoked(key.id)).toBe(false);
    const page = await open(path);
    expect(page).toContain('None of the last requests used it.');
    expect(page).not.toContain('The site is built with this key.');
    await send(path, { confirm: 'yes' });
    expect(isRevoked(key.id)).toBe(true);
  });
  test('says that the site uses it, and takes no answer to another question', async () => {
    const { key, secret } = create();
    siteKey = secret;
    const path = `/keys/${key.id}/revoke`;
    expect(await open(path)).toContain('The site is built with this key.');
    expect(await open('/keys')).toContain("the site's key");
    await send(path, { confirm: 'yes' });
    expect(isRevoked(key.id)).toBe(false);
    await send(path, { confirm: 'site' });
    expect(isRevoked(key.id)).toBe(true);
  });
  test('says when it was used last, and by what', async () => {
    const { key } = create();
    service.store.requests.add({
      ...{ at: '2026-01-02T03:04:05.000Z', organizationId: organization, keyId: key.id, variant: 'render' },
      ...{ snippetId: '41', params: null, status: 200, milliseconds: 1, userAgent: 'another-build/1' },
    });
    const page = await open(`/keys/${key.id}/revoke`);
    expect(page).toContain('2026-01-02 03:04 UTC');
    expect(page).toContain('another-build/1');
  });
});

test('the sign-in page has a new link written to the terminal, without a restart, and does not show it', async () => {
  const answer = await send('/login', {}, '');
  const page = await answer.text();
  expect(page).toContain('A new link is in the terminal.');
  expect(links).toHaveLength(1);
  expect(page).not.toContain(links[0]?.split('/').at(-1));
  const opened = await fetch(links[0] ?? '', { redirect: 'manual' });
  expect(opened.headers.get('set-cookie')).toContain('snippets-session=');
});
