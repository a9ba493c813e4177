import { expect, test } from 'vitest';
import { SnippetError } from '../../src/client/snippet-error.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { OpenPages } from '../../src/dev/open-pages.ts';
import { SnippetMemory, shownContent } from '../../src/dev/snippet-memory.ts';
import { withoutRules } from '../../src/html/rules.ts';

const request = parseRequest('42', undefined);
const { key } = request;
const down = new SnippetError('unavailable', 'it is down');

/** A memory that gets these answers one after another, and then the last one again. */
function remember(...answers: (string | SnippetError)[]) {
  const said: string[] = [];
  let asked = 0;
  const say = (what: string) => () => void said.push(what);
  const memory = new SnippetMemory(
    async () => {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? '';
      asked += 1;
      if (typeof answer !== 'string') throw answer;
      return { content: answer, variant: 'render', milliseconds: 1, ...withoutRules(answer) };
    },
    { onUpdate: say('updated'), onStale: say('stale'), onRecovered: say('recovered'), onFlaw: say('flaw') },
  );
  const get = () => memory.get({ request, asHtml: true });
  return { memory, said, get, asked: () => asked };
}

test('during an outage the last content stays, which is said once, and so is its end', async () => {
  const { memory, said, get } = remember('old', down, down, 'new');
  const snippet = await get();
  for (let times = 0; times < 2; times += 1) {
    await memory.update(key);
    expect(shownContent(snippet)?.html).toBe('old');
    expect(snippet.error).toBe(down);
  }
  await memory.update(key);
  expect(shownContent(snippet)?.html).toBe('new');
  expect(snippet.error).toBeUndefined();
  expect(said).toEqual(['updated', 'stale', 'updated', 'recovered']);
});

test('a snippet that has to be fixed, or is gone, is no longer shown', async () => {
  const { memory, said, get } = remember('old', new SnippetError('not-found', 'it is gone'));
  const snippet = await get();
  await memory.update(key);
  expect(shownContent(snippet)).toBeUndefined();
  expect(snippet.error).toMatchObject({ code: 'not-found' });
  expect(said).toEqual(['updated', 'updated']);
});

test('the end of the dev server is no failure of a snippet', async () => {
  const { memory, get } = remember('old', new SnippetError('closed', 'the client is closed'));
  const snippet = await get();
  await memory.update(key);
  expect(snippet.error).toBeUndefined();
  expect(shownContent(snippet)?.html).toBe('old');
});

test('who asks at the same time shares a request, and a page is told of each change once', async () => {
  const { memory, get, asked } = remember('old', 'new');
  const snippet = await get();
  const pages = new OpenPages();
  pages.serve('/', new Map([[key, { snippet, hasChildren: false, isOptional: false }]]));
  expect(pages.changed(key)).toEqual([]);
  await Promise.all([memory.update(key), memory.update(key)]);
  expect(asked()).toBe(2);
  expect(pages.changed(key)).toEqual(['/']);
  expect(pages.changed(key)).toEqual([]);
  expect(pages.isOutdated('/')).toBe(true);
});
