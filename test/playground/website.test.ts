import { request } from 'node:http';
import { parseEnv } from 'node:util';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startService } from '../../playground/service/index.ts';
import type { Publication, Publisher, ShownPlaces, SiteFacts } from '../../playground/service/publisher.ts';
import { signIn } from '../support/service/website.ts';

let latest: Publication | undefined;
let published = 0;
let siteKey = '';
const facts: SiteFacts & { optional: Map<number, string[]> } = {
  url: 'http://localhost:1',
  paths: ['/', '/pricing/'],
  scripts: 'error',
  optional: new Map(),
};
const everywhere = {
  pages: ['index.html', 'pricing/index.html'],
  entries: ['offers/spring'],
  params: [],
  warnings: [],
};
let places: ShownPlaces = everywhere;
const links: string[] = [];
const publisher: Publisher = {
  siteUrl: 'http://localhost:1',
  publish() {
    published += 1;
  },
  latest: () => latest,
  shown: () => places,
  facts: () => facts,
  preview: async () => undefined,
  styles: async () => '<style>b { color: red }</style>',
  organizationId: () => mine,
  apiKey: () => siteKey,
};

const service = await startService({
  publisher,
  authorityFile: '/home/me/my clone/authority.pem',
  onLinkWanted: () => void links.push(service.loginLink(mine)),
});
const [mine = 0, theirs = 0] = service.store.organizations.list().map(({ id }) => id);
const { open, read, send } = await signIn(service, mine);
beforeEach(() => {
  latest = undefined;
  published = 0;
});
afterAll(() => service.close());

describe('the session of the website', () => {
  test('leads to the page that was requested before signing in', async () => {
    const refused = await open('/snippets/42?page=/visit/', 'none=1');
    const [wanted = ''] = refused.headers.get('set-cookie')?.split(';') ?? [];
    const link = await fetch(service.loginLink(mine), { headers: { cookie: wanted }, redirect: 'manual' });
    expect(link.headers.get('location')).toBe('/snippets/42?page=/visit/');
    const byScript = await fetch(`${service.websiteUrl}/publication`, {
      headers: { 'sec-fetch-dest': 'empty' },
    });
    expect([byScript.status, byScript.headers.get('set-cookie')]).toEqual([401, null]);
    const other = { cookie: 'snippets-wanted=//evil.test' };
    const elsewhere = await fetch(service.loginLink(mine), { headers: other, redirect: 'manual' });
    expect(elsewhere.headers.get('location')).toBe('/');
  });

  test('is required for every page', async () => {
    for (const path of ['/snippets', '/keys', '/requests', '/faults', '/account', '/account/webhook']) {
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
    await edit('not published yet', 'save');
    const rollBack = `${path}/versions/1/roll-back`;
    expect(await read(rollBack)).toContain('This makes version 3, with the content of version 1');
    await send(rollBack, {});
    expect(service.store.snippets.published(mine, id)?.content).toBe('second');
    await send(rollBack, { confirm: 'yes' });
    expect(service.store.snippets.published(mine, id)?.content).toBe('first');
    // Version 3 is served now, and version 10 does not exist.
    for (const number of [3, 10])
      expect((await open(`${path}/versions/${number}/roll-back`)).status).toBe(404);
    expect(service.store.snippets.get(mine, id)?.draft).toBe('not published yet');
    expect(service.store.snippets.versions(mine, id)).toHaveLength(3);
  });
  test('are previewed in a sandboxed frame without being saved', async () => {
    const typed = { name: 'x', draft: '<b>{{ who }}</b><script>1</script>', sample: '{"who":"<you>"}' };
    const page = await (await send('/snippets/42', { ...typed, action: 'preview' })).text();
    expect(page).toMatch(/<iframe[^>]* sandbox="allow-same-origin" /);
    expect(page).toMatch(/ srcdoc="[^"]*&lt;b&gt;&amp;lt;you&amp;gt;&lt;\/b&gt;/);
    expect(service.store.snippets.get(mine, 42)?.name).toBe('Free-shipping line');
  });
  test('are previewed while one types, with how to embed them', async () => {
    const { path, id } = add('one');
    const typed = { name: 'x', draft: '<b>{{ who }}</b><script>1</script>', sample: '{"who":"<you>"}' };
    expect(await (await send(`${path}/draft`, typed)).json()).toEqual({
      content: '<b>&lt;you&gt;</b><script>1</script>',
      document: '<style>b { color: red }</style><b>&lt;you&gt;</b><script>1</script>',
      embeds: {
        component: `<Snippet id={${id}} params={{"who":"<you>"}} />`,
        element: `<snippet-embed id="${id}" params='{"who":"&lt;you>"}'></snippet-embed>`,
      },
      note: '',
      sample: '{"who":"<you>"}',
      values: expect.stringContaining('name="value-who" value="&lt;you&gt;"'),
      findings: [{ line: 1, flaw: expect.stringContaining('contains <script>'), severity: 'breaks' }],
      checks: expect.stringContaining('Line 1</span> contains &lt;script&gt;, which the site refuses'),
      base: expect.stringMatching(/./),
      changed: true,
    });
  });
  test.for([
    ['a\n{{ name', 'line 2: `{{ name` is not closed. Add `}}`.'],
    ['{% if x', 'line 1: `{% if x` is not closed. Add `%}`.'],
    ['{% if x %}', 'line 1: `{% if x %}` has no end. Add `{% endif %}`.'],
    ['{% endif %}', 'line 1: `{% endif %}` ends nothing. Remove it.'],
    ['{% fro %}', 'line 1: `{% fro %}` is not known. Check how it is written.'],
    ['{{ }}', 'line 1: A variable is missing. Write its name.'],
  ] as const)('are neither published nor lost if they cannot be rendered: %j', async ([draft, message]) => {
    const answer = await send('/snippets/42', { name: 'Kept', draft, sample: '{}', action: 'publish' });
    expect(answer.status).toBe(422);
    const page = await answer.text();
    // The banner has the focus.
    expect(page).toMatch(/ autofocus><strong>Not published: line/);
    expect(page).toContain(message);
    expect(page).toContain(draft);
    expect(service.store.snippets.get(mine, 42)?.name).toBe('Free-shipping line');
  });
  test.for([
    ['{}', ''],
    ['[1]', 'The sample params are not a JSON object. Pages do not use them.'],
  ] as const)('are published whatever the sample params are: %s', async ([sample, note]) => {
    const { path, form, id } = add('one');
    const typed = { ...form, draft: 'Plan {{ plan }}', sample };
    expect(await (await send(`${path}/draft`, typed)).json()).toMatchObject({
      ...{ content: 'Plan ', note },
      findings: [{ line: 1, flaw: 'shows “plan”, which has no sample value.' }],
    });
    await send(path, { ...typed, action: 'publish' });
    expect(stored(id)?.publishedContent).toBe('Plan {{ plan }}');
  });
  test('are found by their drafts and by their published content', async () => {
    const { path, form, id } = add('Rare <b>Geisha</b>');
    await send(path, { ...form, draft: 'Common arabica', action: 'save' });
    for (const search of ['geisha', 'ARABICA']) {
      expect(await read(`/snippets?search=${search}`)).toContain(`href="/snippets/${id}"`);
    }
  });
  test('are compared with the previous version and with the draft', async () => {
    const { path, form } = add('same\none\n');
    await send(path, { ...form, draft: 'same\ntwo\n', action: 'publish' });
    await send(path, { ...form, draft: 'same\nthree\n', action: 'save' });
    const version = await read(`${path}/versions/2`);
    expect(version).toContain('same\n<del>one</del><ins>two</ins>\n');
    expect(version).toContain('same\n<del>two</del><ins>three</ins>\n');
    expect(await read(path)).toContain('What changed since version 2');
  });
  test.for(['//evil.test', '/\\evil.test', 'https://evil.test', 'javascript:alert(1)'])(
    'link back only to a path of the site, not to %s',
    async (page) => {
      latest = { state: 'done', startedAt: 0, finishedAt: 1, output: '' };
      const shown = await read(`/snippets/42?published&page=${encodeURIComponent(page)}`);
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
  expect(await read('/snippets')).not.toContain(snippet?.name);
  expect(await read(`/snippets?search=${id}`)).not.toContain(snippet?.name);
  expect(await read('/keys')).not.toContain('Their key');
  const form = { name: 'Mine now', draft: 'mine', sample: '{}' };
  for (const answer of await Promise.all([
    open(`/snippets/${id}`),
    send(`/snippets/${id}`, { ...form, action: 'save' }),
    send(`/snippets/${id}`, { ...form, action: 'publish' }),
    send(`/snippets/${id}/draft`, form),
    send(`/snippets/${id}/discard`, { confirm: 'yes' }),
    send(`/snippets/${id}/versions/1/roll-back`, { confirm: 'yes' }),
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
  expect(await read('/keys')).not.toContain(secret.slice(0, 20));
});

test('the settings that the website shows can be pasted into a .env file', async () => {
  const page = await (await send('/keys', { name: 'Of my site', kind: 'secret' })).text();
  const block = /<pre [^>]*id="settings">([^<]*)<\/pre>/.exec(page)?.[1] ?? '';
  expect(parseEnv(block.replaceAll('&#39;', "'"))).toEqual({
    SNIPPETS_API_KEY: expect.stringMatching(/^sk_/),
    SNIPPETS_RENDER_BASE_URL: service.renderBaseUrl,
    SNIPPETS_RETRIEVE_BASE_URL: service.retrieveBaseUrl,
    SNIPPETS_CA_FILE: '/home/me/my clone/authority.pem',
  });
});

test('the website switches faults on and off, and rejects invalid values', async () => {
  const more = { retryAfter: '5', latency: '20', cut: '10', renderAbsent: 'on' };
  const form = { failing: '30', failingStatus: '502', ...more };
  await send('/faults', form);
  expect(service.faults).toMatchObject({ failing: 0.3, failingStatus: 502 });
  expect(service.faults).toMatchObject({ retryAfter: '5', latency: 20, cut: 0.1, renderAbsent: true });
  expect((await send('/faults', { ...form, failing: '300' })).status).toBe(422);
  expect(service.faults.failing).toBe(0.3);
  await send('/faults/none', {});
  expect(service.faults).toMatchObject({ failing: 0, latency: 0, cut: 0, renderAbsent: false });
});

describe('what the website accepts is limited:', () => {
  const tooLong = {
    name: 'n'.repeat(201),
    draft: 'd'.repeat(200_001),
    sample: `{"a":"${'s'.repeat(8_000)}"}`,
  };
  const form = { name: 'Fine', draft: '<b>fine</b>', sample: '{}' };

  test.for(['name', 'draft', 'sample'] as const)(
    'a %s that is too long is neither saved nor previewed',
    async (field) => {
      const { id } = service.store.snippets.create(mine, form);
      const long = { ...form, [field]: tooLong[field] };
      for (const action of ['save', 'publish', 'preview']) {
        const answer = await send(`/snippets/${id}`, { ...long, action });
        expect(answer.status).toBe(422);
        expect(await answer.text()).toMatch(/(has|have) (201|200,001|8,008) characters, and may have/);
      }
      expect(await (await send(`/snippets/${id}/draft`, long)).json()).toHaveProperty('error');
      expect(service.store.snippets.get(mine, id)).toMatchObject({ ...form, published: null });
    },
  );
});

/** A published snippet. */
function add(draft: string): { id: number; path: string; form: Record<string, string> } {
  const { snippets } = service.store;
  const { id } = snippets.create(mine, { name: 'Edited here', draft });
  snippets.publish(mine, id);
  return { id, path: `/snippets/${id}`, form: { name: 'Edited here', draft, sample: '{}' } };
}

const stored = (id: number) => service.store.snippets.get(mine, id);

describe('a draft', () => {
  test('that differs from the published content is marked in the list and on its page', async () => {
    const { path, form, id } = add('one');
    const row = async () =>
      new RegExp(`<tr>(?:(?!</tr>)[^])*"${path}"(?:(?!</tr>)[^])*</tr>`).exec(await read('/snippets'))?.[0];
    expect(await row()).not.toContain('unpublished changes');
    expect(await read(path)).toContain('<span data-changed hidden>');
    await send(path, { ...form, draft: 'two', action: 'save' });
    expect(await row()).toContain('unpublished changes');
    expect(await read(path)).toContain('<span data-changed>');
    service.store.snippets.publish(mine, id);
    expect(await row()).not.toContain('unpublished changes');
  });
  test('sent after the session has ended gets a page with what was typed', async () => {
    const { path, form, id } = add('one');
    const answer = await send(
      path,
      { ...form, draft: '<b>two', action: 'save' },
      { cookie: 'snippets-session=ended' },
    );
    expect(answer.status).toBe(401);
    const page = await answer.text();
    expect(page).toContain('Not saved: you are not signed in any more.');
    expect(page).toContain('&lt;b&gt;two</pre>');
    expect(stored(id)?.draft).toBe('one');
  });
});

describe('publishing', () => {
  test.for(['', ' \n', '{% if plan %}text{% endif %}'])(
    'content that shows nothing needs a confirmation: %j',
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
  test.for([
    ['Shipping is <!-- free', 'leaves a comment open, which swallows the rest of the page.'],
    ['\n<strong>free from 25 €. <a href="/pricing/">More', 'leaves &lt;strong&gt; and &lt;a&gt; open, which'],
    ['<script>alert(1)</script>', 'contains &lt;script&gt;, which the site refuses'],
  ] as const)(
    'what would break a page needs a confirmation, and is named at its line before and after: %j',
    async ([draft, flaw]) => {
      const { path, form, id } = add('one');
      const line = `Line ${draft.split('\n').length}</span> ${flaw}`;
      const answer = await send(path, { ...form, draft, action: 'publish' });
      expect(answer.status).toBe(422);
      const [notice] = (await answer.text()).split(' id="edit"');
      expect(notice).toContain(line);
      expect(notice).toContain('Publish it anyway');
      expect(stored(id)).toMatchObject({ draft: 'one', publishedContent: 'one' });
      expect(published).toBe(0);
      await send(path, { ...form, draft, action: 'publish-anyway' });
      expect(stored(id)?.publishedContent).toBe(draft);
      expect(await read(path)).toContain(line);
    },
  );
  test('what does not break a page is named, and published at once', async () => {
    const { path, form, id } = add('one');
    const draft = '<a href="/pricng/">{{ plan | upcsae }}</a>';
    await send(path, { ...form, draft, action: 'publish' });
    expect(stored(id)?.publishedContent).toBe(draft);
    const page = await read(path);
    for (const flaw of ['links to /pricng/', 'uses the filter “upcsae”', 'shows “plan”']) {
      expect(page).toContain(`Line 1</span> ${flaw}`);
    }
  });
  test.for([
    ['why <not>', 'The site could not be updated.'],
    ['… [payment-required]', 'The subscription has expired. <a href="/account">Renew it</a>.'],
    ['… [unauthorized]', "The site's API key is not valid any more."],
    ['Snippet 49: 404 [not-found]', '“Spring sale” is not published, but / shows it.'],
    ['The service at https://x fails for every request: 502 Bad.', 'The service answers 502.'],
  ] as const)(
    'that failed says why and when it is tried again, on every page: %s',
    async ([output, cause]) => {
      latest = { state: 'failed', startedAt: 0, retryAt: Date.UTC(2026, 0, 1, 12, 30, 15), output };
      for (const path of ['/publication', '/keys', '/snippets', '/snippets/42', '/requests', '/account']) {
        const page = await read(path);
        expect(page).toContain(cause);
        expect(page).toContain('Trying again at <time data-clock datetime="2026-01-01T12:30:15.000Z">');
        expect(page).toContain(output.replace('<not>', '&lt;not&gt;'));
      }
    },
  );
});

test.for(['unpublish', 'delete'])(
  'to %s a snippet needs a confirmation, which lists every place that shows it',
  async (way) => {
    const { path, id } = add('one');
    expect(await (await send(`${path}/${way}`, {})).text()).toContain('<input type="hidden" name="confirm"');
    expect(stored(id)?.published).toBe(1);
    const page = await read(`${path}/${way}`);
    expect(page).toContain('The site shows it on 2 pages, 1 entry of collections.');
    expect(page).toContain('the next build fails');
    expect(page).not.toContain('It is optional on');
    for (const place of ['http://localhost:1/"', 'http://localhost:1/pricing/"', 'offers/spring']) {
      expect(page).toContain(place);
    }
  },
);

test.for(['unpublish', 'delete'])(
  'the question to %s a snippet says what happens to pages where it is optional, and to all others',
  async (way) => {
    const { path, id } = add('one');
    facts.optional.set(id, ['pricing/index.html']);
    const [required, optional] = (await read(`${path}/${way}`)).split('It is optional on 1 page.');
    expect(required).toContain('The site shows it on 1 page, 1 entry of collections.');
    expect(required).toContain('http://localhost:1/"');
    expect(optional).toContain('they show what is written inside the');
    expect(optional).toContain('http://localhost:1/pricing/"');
    expect(optional).not.toContain('http://localhost:1/"');
    places = { pages: ['pricing/index.html'], entries: [], params: [], warnings: [] };
    expect(await read(`${path}/${way}`)).not.toContain('the next build fails');
    places = { pages: [], entries: [], params: [], warnings: [] };
    expect(await read(`${path}/${way}`)).toContain('No page of the site shows it');
    places = everywhere;
  },
);

test('an unpublished snippet keeps its draft and its versions, and can be published again', async () => {
  const { path, form, id } = add('one');
  await send(`${path}/unpublish`, { confirm: 'yes' });
  // The site is updated, so that its problems show at once.
  expect(published).toBe(1);
  expect(stored(id)).toMatchObject({ draft: 'one', published: null });
  expect(service.store.snippets.published(mine, id)).toBeUndefined();
  await send(path, { ...form, draft: 'two', action: 'publish' });
  expect(service.store.snippets.versions(mine, id)).toHaveLength(2);
  expect(service.store.snippets.published(mine, id)?.content).toBe('two');
});

test('a deleted snippet is in no list, and its id is not used again', async () => {
  const { path, id } = add('one');
  const answer = await send(`${path}/delete`, { confirm: 'yes' });
  expect(answer.headers.get('location')).toBe(`/snippets?deleted=${id}`);
  expect(stored(id)).toBeUndefined();
  expect(service.store.snippets.create(mine, { name: 'next' }).id).not.toBe(id);
  expect(await read(`/snippets?deleted=${id}`)).toContain(`Snippet ${id} is deleted.`);
  expect((await open(path)).status).toBe(404);
});

test('revoking a key needs a confirmation, which says who uses it; an answer to another question does not count', async () => {
  const { key, secret } = service.store.keys.create(mine, 'secret', 'Build');
  const isRevoked = () => service.store.keys.list(mine).find(({ id }) => id === key.id)?.revokedAt !== null;
  const path = `/keys/${key.id}/revoke`;
  expect(await (await send(path, {})).text()).toContain('Revoke the key “Build”?');
  expect(isRevoked()).toBe(false);
  const unused = await read(path);
  expect(unused).toContain('None of the last requests used it.');
  expect(unused).not.toContain('The site is built with this key.');

  siteKey = secret;
  service.store.requests.add({
    ...{ at: '2026-01-02T03:04:05.000Z', organizationId: mine, keyId: key.id, variant: 'render' },
    ...{ snippetId: '41', params: null, status: 200, milliseconds: 1, userAgent: 'another-build/1' },
  });
  const used = await read(path);
  for (const text of ['The site is built with this key.', '2026-01-02 03:04 UTC', 'another-build/1']) {
    expect(used).toContain(text);
  }
  await send(path, { confirm: 'yes' });
  expect(isRevoked()).toBe(false);
  await send(path, { confirm: 'site' });
  expect(isRevoked()).toBe(true);
});

test('the sign-in page writes a new link to the terminal, without a restart, and does not show it', async () => {
  const answer = await send('/login', {}, { cookie: '' });
  const page = await answer.text();
  expect(page).toContain('A new link is in the terminal.');
  expect(links).toHaveLength(1);
  expect(page).not.toContain(links[0]?.split('/').at(-1));
  const opened = await fetch(links[0] ?? '', { redirect: 'manual' });
  expect(opened.headers.get('set-cookie')).toContain('snippets-session=');
});

test('what the site warns of is shown at the snippet, with its line: beside "Live", and where it shows', async () => {
  const { path, id } = add('one');
  const warning = {
    line: 2,
    message: 'Snippet 42 (<Offer>) leaves <b> open, which browsers continue in the rest of the page.',
    hint: 'Close it in the snippet.',
    pages: ['index.html', 'pricing/index.html'],
  };
  const shown = [
    '<span class="badge bad">Line 2</span> Snippet 42 (&lt;Offer&gt;) leaves &lt;b&gt; open,',
    'Close it in the snippet. It is on /, /pricing/.',
  ];
  latest = { state: 'done', startedAt: 0, finishedAt: 200, output: '' };
  const notice = () => read(`/publication?id=${id}`);
  expect(await notice()).not.toContain('badge');
  places = { ...everywhere, warnings: [warning] };
  for (const text of [await notice(), await read(path)])
    for (const part of shown) expect(text).toContain(part);
  expect(await notice()).toContain('Live after <strong>0.2 s</strong>');
  places = { ...everywhere, warnings: [{ ...warning, line: undefined, pages: [] }] };
  expect(await notice()).toContain('<span class="badge bad">The content</span>');
  places = everywhere;
});
