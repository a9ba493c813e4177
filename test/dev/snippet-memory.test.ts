import { beforeEach, describe, expect, test } from 'vitest';
import { protectKey } from '../../src/client/known-keys.ts';
import { SnippetError } from '../../src/client/snippet-error.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { lookOf } from '../../src/dev/look.ts';
import { type ContentSource, SnippetMemory, shownContent } from '../../src/dev/snippet-memory.ts';
import { parseTried } from '../../src/dev/trial.ts';
import type { FetchedSnippet, ShownAs } from '../../src/snippets/fetch-snippets.ts';

const request = parseRequest('42', undefined);
const { key } = request;
const apiKey = 'sk_test_0123456789abcdef';
protectKey(apiKey);

let contents: Map<string, string | SnippetError>;
let prepared: { text: string; surroundings: string[] }[];
let updates: number;
let trialsTold: (string | undefined)[];
let memory: SnippetMemory;
let beforePrepared: () => Promise<void> | undefined;

const surroundingsOf = ({ surroundings }: ShownAs) => [...(surroundings ?? [])];

const source: ContentSource = {
  async fetch({ request: asked }) {
    const content = contents.get(asked.key) ?? '';
    if (typeof content !== 'string') throw content;
    return {
      content,
      html: content,
      text: content,
      warnings: [],
      variant: 'render',
    } as unknown as FetchedSnippet;
  },
  async prepare(text, use) {
    const surroundings = surroundingsOf(use);
    await beforePrepared();
    if (surroundings.length > 0 && text.includes('refused in svg'))
      throw new SnippetError('bad-answer', 'refused');
    prepared.push({ text, surroundings });
    return { html: text, text, warnings: [] };
  },
};

const get = (surroundings: ShownAs['surroundings'] = new Set()) =>
  memory.get({ request, asHtml: true, surroundings });
const shown = () => {
  const snippet = memory.peek(key);
  return snippet && shownContent(snippet)?.html;
};
const tryText = (text: string) => memory.try(key, parseTried(42, 'text', text));
const tryParams = (params: string) => memory.try(key, parseTried(42, 'params', params));

beforeEach(async () => {
  contents = new Map([
    [key, 'of the service'],
    ['42 {"a":1}', 'with a = 1'],
  ]);
  [prepared, trialsTold, updates, beforePrepared] = [[], [], 0, () => undefined];
  memory = new SnippetMemory(source, {
    onUpdate() {
      updates += 1;
    },
    onStale: () => {},
    onRecovered: () => {},
    onFlaw: () => {},
    onTrial: ({ trial }) => void trialsTold.push(trial?.error?.message),
  });
  await get();
});

describe('a text that is tried out', () => {
  test('stays when the service sends another one or none, until the way back', async () => {
    await tryText('tried');
    contents.set(key, 'changed');
    await memory.update(key);
    expect(shown()).toBe('tried');
    contents.set(key, new SnippetError('not-found', 'gone', { status: 404 }));
    await memory.update(key);
    expect(shown()).toBe('tried');
    contents.set(key, 'changed');
    await memory.update(key);
    memory.endTrial(key);
    expect(shown()).toBe('changed');
  });

  test('may be empty', async () => {
    await tryText('');
    expect(shown()).toBe('');
  });

  test('changes how a page looks, and so does the way back', async () => {
    const snippet = await get();
    const look = () => lookOf(snippet, { hasChildren: false, isOptional: false });
    const before = look();
    const count = updates;
    await tryText('tried');
    expect(look()).not.toBe(before);
    memory.endTrial(key);
    expect(look()).toBe(before);
    expect(updates).toBe(count + 2);
  });

  test('replaces the children of a snippet that does not exist', async () => {
    contents.set(key, new SnippetError('not-found', 'gone', { status: 404 }));
    await memory.update(key);
    await tryText('tried');
    expect(shown()).toBe('tried');
  });

  test('is not replaced by one that was tried before and is ready later', async () => {
    const first = Promise.withResolvers<void>();
    beforePrepared = () => first.promise;
    const slow = tryText('first');
    beforePrepared = () => undefined;
    await tryText('second');
    first.resolve();
    await slow;
    expect(shown()).toBe('second');
  });

  test('is not shown if the way back is taken before it is ready', async () => {
    const first = Promise.withResolvers<void>();
    beforePrepared = () => first.promise;
    const slow = tryText('first');
    memory.endTrial(key);
    first.resolve();
    await slow;
    expect(shown()).toBe('of the service');
  });

  test('is prepared again when a page shows it in other surroundings, even while it is prepared', async () => {
    await tryText('tried');
    await get(new Set(['svg']));
    expect(prepared.at(-1)).toEqual({ text: 'tried', surroundings: ['svg'] });
    const first = Promise.withResolvers<void>();
    beforePrepared = () => first.promise;
    const slow = tryText('slow');
    beforePrepared = () => undefined;
    await get(new Set(['math']));
    first.resolve();
    await slow;
    expect(prepared.at(-1)).toEqual({ text: 'slow', surroundings: ['svg', 'math'] });
  });

  test('ends where it is refused in other surroundings', async () => {
    await tryText('refused in svg');
    expect(shown()).toBe('refused in svg');
    await get(new Set(['svg']));
    expect(shown()).toBe('of the service');
    expect(trialsTold).toEqual([undefined]);
  });

  test('is refused with the API key in it, in any spelling, and with more bytes than an answer may have', () => {
    for (const spelling of [apiKey, Buffer.from(apiKey).toString('base64'), apiKey.replace('_', '&#95;')]) {
      expect(() => parseTried(42, 'text', `<b>${spelling}</b>`)).toThrow('The text contains the API key');
    }
    expect(parseTried(42, 'text', 'a'.repeat(2 ** 21))).toMatchObject({ kind: 'text' });
    expect(() => parseTried(42, 'text', 'ä'.repeat(2 ** 20 + 1))).toThrow('larger than 2097152 bytes');
  });
});

describe('params that are tried out', () => {
  test('show what the service sends for them, as it is now', async () => {
    await tryParams('{ "a": 1 }');
    expect(shown()).toBe('with a = 1');
    contents.set('42 {"a":1}', 'changed');
    await memory.update(key);
    expect(shown()).toBe('changed');
  });

  test('that fail leave the page as it is', async () => {
    contents.set('42 {"a":2}', new SnippetError('bad-answer', 'It is broken.'));
    await expect(tryParams('{"a":2}')).rejects.toThrow('It is broken.');
    expect(shown()).toBe('of the service');
  });

  test('that fail later show what was sent last, and say why once', async () => {
    await tryParams('{"a":1}');
    contents.set('42 {"a":1}', new SnippetError('bad-answer', 'It is broken.'));
    await memory.update(key);
    await memory.update(key);
    expect(shown()).toBe('with a = 1');
    contents.set('42 {"a":1}', 'again');
    await memory.update(key);
    expect(shown()).toBe('again');
    expect(trialsTold).toEqual(['It is broken.', undefined]);
  });

  test('whose content contains the API key are refused', async () => {
    contents.set('42 {"a":1}', apiKey);
    await expect(tryParams('{"a":1}')).rejects.toThrow('The text contains the API key, so it is not shown.');
    expect(shown()).toBe('of the service');
  });

  test('that are those of the page end the trial', async () => {
    await tryParams('{"a":1}');
    await tryParams(' ');
    expect(memory.peek(key)?.trial).toBeUndefined();
    await tryParams('{"a":1}');
    await tryParams('{}');
    expect(memory.peek(key)?.trial).toBeUndefined();
  });

  test.for([
    ['{ a: 1 }', 'params is not JSON'],
    ['[1]', 'params must be a plain object, not an array.'],
    ['{"a":1,"a":2}', 'params.a is given twice.'],
    [`{"a":"${apiKey}"}`, 'params contains the API key. Its value is not shown on purpose.'],
  ] as const)('that are not valid are refused: %s', ([typed, reason]) => {
    expect(() => parseTried(42, 'params', typed)).toThrow(reason);
  });
});
