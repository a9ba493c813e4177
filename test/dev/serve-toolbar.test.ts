import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { protectKey } from '../../src/client/known-keys.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { OpenPages } from '../../src/dev/open-pages.ts';
import { SnippetMemory } from '../../src/dev/snippet-memory.ts';
import { events, type SnippetsMessage } from '../../src/dev/toolbar/messages.ts';
import { serveToolbar, type ToolbarServer } from '../../src/dev/toolbar/serve-toolbar.ts';
import type { Settings } from '../../src/settings/settings.ts';
import type { FetchedSnippet } from '../../src/snippets/fetch-snippets.ts';

const apiKey = 'sk_test_fedcba9876543210';
protectKey(apiKey);
const request = parseRequest('42', '{"a":1}');
const { key } = request;

let sent: { to: 'all' | 'one'; event: string; data: unknown }[];
let channel: EventEmitter;
let name: string;
let content: string;
let refreshed: () => Promise<void>;
let warnings: string[];
let settings: Settings;
let shownElsewhere: ToolbarServer['run']['shownElsewhere'];

const fail = (reason: unknown) => {
  throw reason;
};
const client = { send: (event: string, data: unknown) => void sent.push({ to: 'one', event, data }) };
const send = (event: string, data: unknown) => channel.emit(event, data, client);
const answers = (event: string) => sent.filter((message) => message.event === event);
const done = () => vi.waitFor(() => expect(answers(events.done)).toHaveLength(1));

beforeEach(async () => {
  [sent, warnings, channel, name, content] = [[], [], new EventEmitter(), 'Price', 'text'];
  settings = { editUrl: undefined } as Settings;
  shownElsewhere = async ({ id }, page) => ({
    pages: [{ path: `${page}${id}`, hasOtherParams: false }],
    more: 0,
    entries: [],
  });
  refreshed = async () => {};
  const memory = new SnippetMemory(
    {
      fetch: async () =>
        ({ content, html: 'text', text: 'text', name, warnings: [] }) as unknown as FetchedSnippet,
      prepare: async (text) => ({ html: text, text, warnings: ['Snippet 42 leaves <b> open.'] }),
    },
    { onUpdate() {}, onStale() {}, onRecovered() {}, onFlaw() {}, onTrial() {} },
  );
  const pages = new OpenPages();
  const snippet = await memory.get({ request, asHtml: true });
  pages.serve('/', new Map([[key, { snippet, hasChildren: false, isOptional: false }]]));
  serveToolbar({
    hot: Object.assign(channel, {
      send: (event: string, data: unknown) => void sent.push({ to: 'all', event, data }),
    }) as unknown as ToolbarServer['hot'],
    memory,
    pages,
    run: { settings, shownElsewhere: (request, page) => shownElsewhere(request, page) },
    refreshCollections: () => refreshed(),
    warn: (line) => void warnings.push(line),
  });
});

test('a text that is tried out is in the list with its warnings, and who tried it hears that it is shown', async () => {
  send(events.try, { page: '/', key, kind: 'text', typed: '<b>tried' });
  await done();
  expect(answers(events.done)[0]).toEqual({ to: 'one', event: events.done, data: { page: '/', key } });
  expect(answers(events.snippets)[0]).toMatchObject({
    to: 'all',
    data: {
      page: '/',
      snippets: [
        { id: 42, trial: { kind: 'text', tried: '<b>tried', warnings: ['Snippet 42 leaves <b> open.'] } },
      ],
    },
  });
});

test('what cannot be tried out is answered with the reason', async () => {
  send(events.try, { page: '/', key, kind: 'params', typed: '{' });
  await done();
  expect(answers(events.done)[0]?.data).toMatchObject({
    key,
    error: expect.stringContaining('params is not JSON'),
  });
});

test('what fails in a refresh is answered with the reason', async () => {
  refreshed = () => Promise.reject(new Error('The collection is broken.'));
  send(events.refresh, { page: '/', key });
  await done();
  expect(answers(events.done)[0]?.data).toMatchObject({ error: 'The collection is broken.' });
});

test('a snippet that the dev server does not know is answered with what to do', async () => {
  send(events.try, { page: '/', key: '43', kind: 'text', typed: '' });
  await done();
  expect(answers(events.done)[0]?.data).toMatchObject({
    error: 'The dev server has restarted. Load the page again.',
  });
});

test.for([
  [events.try, { page: '/', key, kind: 'html', typed: 'x' }],
  [events.try, { page: '/', key, kind: 'text', typed: { toString: 'x' } }],
  [events.try, { page: '/', key: 42, kind: 'text', typed: 'x' }],
  [events.refresh, { page: '/' }],
  [events.endTrial, null],
  [events.content, { key }],
  [events.otherPages, { page: '/', key: ['42'] }],
  [events.list, 'page'],
  [events.list, undefined],
] as const)('a message of another shape is ignored: %s %o', async ([event, data]) => {
  send(event, data);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
});

describe('if editUrl', () => {
  test.for<[what: string, editUrl: () => unknown, reason: string]>([
    ['throws', () => JSON.parse('{').url, 'failed for snippet 42: Expected property name'],
    ['throws no error', () => fail(null), 'failed for snippet 42: null'],
    ['returns nothing', () => undefined, 'returned a value of type undefined for snippet 42'],
    [
      'returns a promise that rejects',
      async () => fail(null),
      'returned a value of type object for snippet 42',
    ],
    ['returns a number', () => 42, 'returned a value of type number for snippet 42'],
    ['returns a BigInt', () => 42n, 'returned a value of type bigint for snippet 42'],
    ['returns no URL', () => 'https://', 'returned "https://" for snippet 42'],
  ])(
    '%s, the snippet has no link, and one warning names the option and the snippet',
    async ([, editUrl, reason]) => {
      settings.editUrl = editUrl as () => string;
      send(events.list, { page: '/' });
      send(events.refresh, { page: '/', key });
      await done();
      const shown = answers(events.snippets).flatMap(({ data }) => (data as SnippetsMessage).snippets);
      expect(shown.map(({ id, editUrl }) => [id, editUrl])).toEqual([
        [42, undefined],
        [42, undefined],
      ]);
      expect(warnings).toEqual([expect.stringContaining(`The function editUrl ${reason}`)]);
    },
  );

  test.for(['/edit/42', 'https://cms.example/42', 'vscode://file/42'])(
    'returns %s, that is the link',
    (url) => {
      settings.editUrl = () => url;
      send(events.list, { page: '/' });
      expect(answers(events.snippets)[0]?.data).toMatchObject({ snippets: [{ editUrl: url }] });
      expect(warnings).toEqual([]);
    },
  );
});

test.for<[what: string, fail: () => Promise<never>]>([
  ['an error', () => Promise.reject(new Error('The manifest cannot be read.'))],
  [
    'an error before anything is awaited',
    () => {
      throw new Error('The manifest cannot be read.');
    },
  ],
  ['nothing', () => Promise.reject(undefined)],
])('a message whose handler throws %s is a warning, and the next one is answered', async ([, fail]) => {
  const answer = shownElsewhere;
  shownElsewhere = fail;
  send(events.otherPages, { page: '/', key });
  await vi.waitFor(() => expect(warnings).toHaveLength(1));
  expect(warnings[0]).toMatch(/could not be answered/);
  shownElsewhere = answer;
  send(events.otherPages, { page: '/', key });
  await vi.waitFor(() => expect(answers(events.otherPages)).toHaveLength(1));
});

test('the content and the other pages are sent to the page that asks alone', async () => {
  send(events.content, { page: '/', key });
  send(events.otherPages, { page: '/', key });
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent).toMatchObject([
    { to: 'one', data: { content: 'text' } },
    { to: 'one', data: { pages: [{ path: '/42' }] } },
  ]);
});

test('the API key is in no message, even if the name or the content of a snippet contains it', async () => {
  name = `The key ${apiKey}`;
  content = `<b>${apiKey}</b>`;
  send(events.refresh, { page: '/', key });
  await done();
  send(events.try, { page: '/', key, kind: 'text', typed: apiKey });
  await vi.waitFor(() => expect(answers(events.done)).toHaveLength(2));
  send(events.content, { page: '/', key });
  expect(answers(events.content)[0]?.data).toMatchObject({ content: '<b>[API key]</b>' });
  expect(JSON.stringify(sent)).not.toContain(apiKey);
  expect(JSON.stringify(sent)).toContain('The key [API key]');
});
