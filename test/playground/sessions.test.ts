import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { startService } from '../../playground/service/index.ts';
import { openStore } from '../../playground/service/store/index.ts';
import { signIn } from '../support/service/website.ts';
import { folderWith } from '../support/site/folder.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a session survives a restart of the service, with its name; one that was ended does not', async () => {
  const database = join((await folderWith({})).directory, 'service.sqlite');
  const first = await startService({ database });
  const [organization = 0] = first.store.organizations.list().map(({ id }) => id);
  const stays = await signIn(first, organization, 'Ines');
  const ends = await signIn(first, organization);
  await ends.send('/sign-out');
  const unused = first.loginLink(organization);
  await first.close();

  const websitePort = Number(new URL(first.websiteUrl).port);
  const second = await startService({ database, websitePort });
  expect(await stays.read('/snippets')).toContain('>Ines</a>');
  expect((await ends.open('/snippets')).status).toBe(401);
  expect((await fetch(unused, { redirect: 'manual' })).status).toBe(303);
  await second.close();
});

test('no token is in the database: a copy of it signs nobody in', async () => {
  const file = join((await folderWith({})).directory, 'service.sqlite');
  const store = openStore(file);
  const { id: organizationId } = store.organizations.create('Test');
  const link = store.sessions.invite({ organizationId, person: 'Ines' });
  const session = store.sessions.open(store.sessions.invite({ organizationId, person: null }));
  store.close();
  const bytes = await readFile(file, 'latin1');
  for (const token of [link, session?.token ?? '']) {
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(bytes).not.toContain(token);
    expect(bytes).not.toContain(Buffer.from(token, 'base64url').toString('latin1'));
  }
});

test('a login link opens one session, and is none; both end after twelve hours, and are removed', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  const store = openStore(':memory:');
  const { id: organizationId } = store.organizations.create('Test');
  const person = 'Ines';
  const [link, late] = [1, 2].map(() => store.sessions.invite({ organizationId, person })) as [
    string,
    string,
  ];
  expect(store.sessions.get(link)).toBeUndefined();
  const { token = '' } = store.sessions.open(link) ?? {};
  expect(store.sessions.open(link)).toBeUndefined();
  expect(store.sessions.open(token)).toBeUndefined();
  expect(store.sessions.get(token)).toEqual({ organizationId, person });
  vi.setSystemTime(12 * 3_600_000);
  expect(store.sessions.get(token)).toBeUndefined();
  expect(store.sessions.open(late)).toBeUndefined();
  store.sessions.rename(token, 'Tom');
  expect(store.sessions.get(token)).toBeUndefined();
  store.close();
});
