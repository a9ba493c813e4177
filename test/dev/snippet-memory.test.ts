import { beforeEach, expect, test, vi } from 'vitest';
import { SnippetError } from '../../src/client/snippet-error.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { SnippetMemory } from '../../src/dev/snippet-memory.ts';

const request = parseRequest('42', undefined);
const down = new SnippetError('unavailable', 'it is down');

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

/** A memory that gets these answers in turn, and then the last one again and again. */
function remember(...answers: (string | SnippetError)[]) {
  const said: string[] = [];
  let asked = 0;
  const answering = { promise: Promise.resolve() };
  const memory = new SnippetMemory(
    async () => {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? '';
      asked += 1;
      await answering.promise;
      if (typeof answer !== 'string') throw answer;
      const shown = { html: answer, text: answer, flaws: [], inlineCode: undefined };
      return { content: answer, variant: 'render', milliseconds: 1, ...shown };
    },
    (line) => void said.push(line),
  );
  const get = (isLast = false) => memory.get({ request, asHtml: true }, isLast);
  return { memory, said, get, asked: () => asked, answering };
}

test('closing the dev server is no failure of a snippet', async () => {
  const { memory, get } = remember('old', new SnippetError('closed', 'the client is closed'));
  const snippet = await get();
  await memory.update(snippet, true);
  expect(snippet).toMatchObject({ content: { html: 'old' } });
  expect(snippet.error).toBeUndefined();
});

/** When the service is asked, in seconds, while tabs with different start times ask every two seconds. */
async function askedAt(tabs: number, ...answers: (string | SnippetError)[]): Promise<number[]> {
  const { memory, get, asked } = remember(...answers);
  const snippet = await get();
  const times: number[] = [];
  for (let tenth = 0; tenth < 400; tenth += 1) {
    const before = asked();
    for (let tab = 0; tab < tabs; tab += 1) {
      if (tenth % 20 === tab * 3) void memory.update(snippet);
    }
    await vi.advanceTimersByTimeAsync(100);
    if (asked() > before) times.push(tenth / 10);
  }
  return times;
}

test.for([1, 5])('however many tabs ask (%i), the service is asked every two seconds', async (tabs) => {
  const times = await askedAt(tabs, 'text');
  expect(times).toHaveLength(19);
  for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeCloseTo(2, 5);
});

test.for([-3_600_000, 3_600_000])(
  'after the clock was set by %i ms, the service is asked as often as before',
  async (step) => {
    const { memory, get, asked } = remember('old', 'new');
    const snippet = await get();
    vi.setSystemTime(Date.now() + step);
    void memory.update(snippet);
    expect(asked()).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    void memory.update(snippet);
    expect(asked()).toBe(2);
  },
);

test('while the service is in trouble, it is asked less often, but not while a snippet does not exist', async () => {
  const times = await askedAt(2, down);
  const pauses = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)));
  expect(pauses).toEqual([10, 10]);
  expect(await askedAt(1, new SnippetError('not-found', 'it is gone'))).toHaveLength(19);
});

test('the last view waits for an update that is due, and other views do not', async () => {
  const { get, answering } = remember('old', 'new', 'newest');
  await get();
  for (const [isLast, seen] of [
    [false, ['old']],
    [true, []],
  ] as const) {
    vi.advanceTimersByTime(2_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    answering.promise = promise;
    const views: (string | undefined)[] = [];
    const view = get(isLast).then(({ content }) => void views.push(content?.html));
    await vi.advanceTimersByTimeAsync(10);
    expect(views).toEqual(seen);
    resolve();
    await view;
    await vi.advanceTimersByTimeAsync(10);
  }
  expect((await get(true)).content?.html).toBe('newest');
});

test('a page is forgotten 10 minutes after it last asked', async () => {
  const { memory, get } = remember('old');
  const snippet = await get();
  const hash = memory.hashPage([snippet]);
  for (let times = 0; times < 3; times += 1) {
    vi.advanceTimersByTime(599_000);
    expect(memory.snippetsOf(hash)).toEqual([snippet]);
  }
  vi.advanceTimersByTime(300_000);
  expect(memory.hashPage([snippet])).toBe(hash);
  vi.advanceTimersByTime(599_000);
  expect(memory.snippetsOf(hash)).toEqual([snippet]);
  vi.advanceTimersByTime(601_000);
  expect(memory.snippetsOf(hash)).toBeUndefined();
});
