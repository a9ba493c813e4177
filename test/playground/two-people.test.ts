import { afterAll, describe, expect, test } from 'vitest';
import { startService } from '../../playground/service/index.ts';
import { signIn, type Visitor } from '../support/service/website.ts';

const service = await startService();
afterAll(() => service.close());
const [organization = 0] = service.store.organizations.list().map(({ id }) => id);
const ines = await signIn(service, organization, 'Ines');
const tom = await signIn(service, organization, 'Tom <b>');
const { snippets } = service.store;

/** A published snippet, as two people open it. */
async function open(draft = 'one') {
  const { id } = snippets.create(organization, { name: 'Of two', draft });
  snippets.publish(organization, id);
  const path = `/snippets/${id}`;
  const base = hiddenIn(await ines.read(path), 'base');
  const type = (visitor: Visitor, text: string, action: string, more = {}) =>
    visitor.send(path, { name: 'Of two', draft: text, sample: '{}', base, action, ...more });
  return { id, path, base, type, stored: () => snippets.get(organization, id) };
}

const hiddenIn = (page: string, name: string) =>
  new RegExp(` name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';

describe("publishing over another person's draft", () => {
  test('asks first, whether or not the page has said that there is another draft', async () => {
    const { type, path, base, stored } = await open();
    await type(tom, 'theirs', 'save');
    const polled = await ines.send(`${path}/draft`, { name: 'Of two', draft: 'mine', sample: '{}', base });
    const { conflict } = (await polled.json()) as { conflict: string };
    expect(conflict).toContain('The draft was changed elsewhere by Tom &lt;b&gt;.');
    for (const more of [{}, { replaces: hiddenIn(conflict, 'replaces') }]) {
      const answer = await type(ines, 'mine', 'publish', more);
      expect(answer.status).toBe(409);
      const page = await answer.text();
      expect(page).toContain('Not published yet: the draft was changed elsewhere by Tom &lt;b&gt;.');
      expect(page).toMatch(/<button [^>]*value="publish-replacing">/);
      expect(page).toContain('mine</textarea>');
      expect(stored()).toMatchObject({ draft: 'theirs', publishedContent: 'one' });
    }
    await type(ines, 'mine', 'publish-replacing', { replaces: hiddenIn(conflict, 'replaces') });
    expect(stored()).toMatchObject({ draft: 'mine', publishedContent: 'mine' });
  });

  test('asks again if the draft was changed once more since the question', async () => {
    const { type, stored } = await open();
    await type(tom, 'theirs', 'save');
    const asked = await (await type(ines, 'mine', 'publish')).text();
    await tom.send(`/snippets/${stored()?.id}`, {
      ...{ name: 'Of two', draft: 'theirs again', sample: '{}', action: 'save' },
    });
    const answer = await type(ines, 'mine', 'publish-replacing', { replaces: hiddenIn(asked, 'replaces') });
    expect(answer.status).toBe(409);
    expect(stored()).toMatchObject({ draft: 'theirs again', publishedContent: 'one' });
  });

  test.for([
    ['an empty content', ' ', 'publish-empty'],
    ['what breaks pages', '<!-- open', 'publish-anyway'],
  ])('asks for %s after that, and not for the other draft again', async ([, text = '', action = '']) => {
    const { type, stored } = await open();
    await type(tom, 'theirs', 'save');
    const first = await (await type(ines, text, 'publish')).text();
    const second = await type(ines, text, 'publish-replacing', { replaces: hiddenIn(first, 'replaces') });
    expect(second.status).toBe(422);
    const page = await second.text();
    expect(page).toContain(`value="${action}"`);
    await type(ines, text, action, { base: hiddenIn(page, 'base') });
    expect(stored()?.publishedContent).toBe(text);
  });
});

test('a version says who made it: published, after a change elsewhere, or rolled back to', async () => {
  const { type, path, id } = await open();
  await type(tom, 'two', 'publish');
  await type(ines, 'three', 'publish', { base: hiddenIn(await ines.read(path), 'base') });
  await tom.send(`${path}/versions/1/roll-back`, { confirm: 'yes' });
  const made = snippets.versions(organization, id).map(({ publishedBy }) => publishedBy);
  expect(made).toEqual(['Tom <b>', 'Ines', 'Tom <b>', null]);
  const rows = [...(await ines.read(path)).matchAll(/data-label="By"><div>(.*?)<\/div>/g)];
  expect(rows.map(([, name]) => name)).toEqual(['Tom &lt;b&gt;', 'Ines', 'Tom &lt;b&gt;', '–']);
  expect(await ines.read(`${path}/versions/3`)).toMatch(/Published <time[^>]*>[^<]*<\/time> by Ines\./);
});

describe('a discarded draft', () => {
  const discard = (visitor: Visitor, path: string) => visitor.send(`${path}/discard`, { confirm: 'yes' });
  const restore = (visitor: Visitor, path: string) => visitor.send(`${path}/restore`);

  test('can be brought back, also by another person and in another session', async () => {
    const { type, path, stored } = await open();
    await type(ines, 'much work', 'save');
    expect(await tom.read(`${path}/discard`)).toContain('What <strong>Ines</strong> has typed since then');
    expect(await ines.read(`${path}/discard`)).toContain('What was typed since then');
    await discard(tom, path);
    expect(stored()?.draft).toBe('one');
    expect(await ines.read(path)).toContain('Bring the discarded draft back');
    await restore(ines, path);
    expect(stored()).toMatchObject({ draft: 'much work', publishedContent: 'one', editedBy: 'Ines' });
    expect(await ines.read(path)).not.toContain('Bring the discarded draft back');
  });

  test('changes places with what was typed since, so that neither is lost', async () => {
    const { type, path, stored } = await open();
    await type(ines, 'first', 'save');
    await discard(ines, path);
    await type(ines, 'second', 'save', { base: hiddenIn(await ines.read(path), 'base') });
    await restore(ines, path);
    expect(stored()).toMatchObject({ draft: 'first', discarded: 'second' });
    await restore(ines, path);
    expect(stored()).toMatchObject({ draft: 'second', discarded: 'first' });
  });

  test('is gone once something is published; a draft that was not changed cannot be discarded', async () => {
    const { type, path, stored } = await open();
    expect((await ines.open(`${path}/discard`)).status).toBe(404);
    await type(ines, 'old', 'save');
    await discard(ines, path);
    await type(ines, 'new', 'publish', { base: hiddenIn(await ines.read(path), 'base') });
    await restore(ines, path);
    expect(stored()).toMatchObject({ draft: 'new', discarded: null });
  });
});

describe('the name of a person', () => {
  test('is that of the login link, and is changed on the account page', async () => {
    const visitor = await signIn(service, organization, 'Wrong Name');
    expect(await visitor.read('/snippets')).toContain('<a href="/account#you">Wrong Name</a>');
    await visitor.send('/account/person', { person: ' Right\u0007 Name ' });
    expect(await visitor.read('/snippets')).toContain('<a href="/account#you">Right Name</a>');
    const long = await visitor.send('/account/person', { person: 'n'.repeat(101) });
    expect(long.status).toBe(422);
    expect(await long.text()).toContain('Your name has 101 characters, and may have 100. Shorten it by 1.');
    await visitor.send('/account/person', { person: '' });
    expect(await visitor.read('/snippets')).not.toContain('/account#you');
  });
});

describe('a text that is too long', () => {
  test('is never cut by the browser: no control has a limit of its own', async () => {
    for (const path of ['/snippets', '/snippets/42', '/keys', '/account', '/account/webhook']) {
      expect(await ines.read(path), path).not.toContain('maxlength');
    }
  });

  test('is refused with its length, for each that the website takes', async () => {
    const { path, stored } = await open();
    const fields = { name: 'Of two', draft: 'one', sample: '{}' };
    const long = { ...fields, draft: 'd'.repeat(200_001), base: hiddenIn(await ines.read(path), 'base') };
    const saved = await ines.send(`${path}/draft`, long);
    expect(saved.status).toBe(422);
    const flaw = 'The content has 200,001 characters, and may have 200,000. Shorten it by 1.';
    expect(await saved.json()).toMatchObject({ failure: flaw, note: flaw });
    for (const [where, body, said] of [
      [path, { ...long, action: 'publish' }, `Not published: ${flaw}`],
      ['/snippets', { name: 'n'.repeat(201) }, 'The name has 201 characters'],
      ['/keys', { name: 'n'.repeat(101) }, 'The name has 101 characters'],
      ['/account/webhook', { url: `https://x.test/${'u'.repeat(2_000)}` }, 'The URL has 2,015 characters'],
    ] as const) {
      const answer = await ines.send(where, body);
      expect(answer.status, where).toBe(422);
      const page = await answer.text();
      expect(page).toContain(said);
      // What was typed is still there.
      expect(page).toContain(('name' in body && where !== path ? body.name : 'u').slice(0, 500));
    }
    expect(stored()?.draft).toBe('one');
  });
});
