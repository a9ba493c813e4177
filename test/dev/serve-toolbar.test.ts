import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { protectKey } from '../../src/client/api-key.ts';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { ServedPages } from '../../src/dev/served-pages.ts';
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
let warnings: string[];
let editUrl: Settings['editUrl'];

const fail = (reason: unknown) => {
  throw reason;
};
const client = { send: (event: string, data: unknown) => void sent.push({ to: 'one', event, data }) };
const send = (event: string, data: unknown) => channel.emit(event, data, client);
const answers = (event: string) => sent.filter((message) => message.event === event);
const done = () => vi.waitFor(() => expect(answers(events.done)).toHaveLength(1));

beforeEach(async () => {
  [sent, warnings, channel, name, editUrl] = [[], [], new EventEmitter(), 'Price', undefined];
  const memory = new SnippetMemory(
    async () =>
      ({ content: 'text', html: 'text', text: 'text', name, warnings: [] }) as unknown as FetchedSnippet,
    () => {},
  );
  const pages = new ServedPages();
  const snippet = await memory.get({ request, asHtml: true }, false);
  pages.serve('/', new Map([[key, { snippet, hasChildren: false, isOptional: false }]]));
  serveToolbar({
    hot: Object.assign(channel, {
      send: (event: string, data: unknown) => void sent.push({ to: 'all', event, data }),
    }) as unknown as ToolbarServer['hot'],
    memory,
    pages,
    settings: () => ({ editUrl }),
    refreshCollections: async () => {},
    warn: (line) => void warnings.push(line),
  });
});

describe('if editUrl', () => {
  test.for<[what: string, editUrl: () => unknown, reason: string]>([
    ['throws', () => JSON.parse('{').url, 'failed for snippet 42: Expected property name'],
    ['throws no error', () => fail(null), 'failed for snippet 42: null'],
    [
      'returns a promise that rejects',
      async () => fail(null),
      'returned a value of type object for snippet 42',
    ],
    ['returns a BigInt', () => 42n, 'returned a value of type bigint for snippet 42'],
    ['returns no URL', () => 'https://', 'returned "https://" for snippet 42'],
  ])(
    '%s, the snippet has no link, and one warning names the option and the snippet',
    async ([, returning, reason]) => {
      editUrl = returning as () => string;
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
      editUrl = () => url;
      send(events.list, { page: '/' });
      expect(answers(events.snippets)[0]?.data).toMatchObject({ snippets: [{ editUrl: url }] });
      expect(warnings).toEqual([]);
    },
  );
});

test('the API key is in no message, even if the name of a snippet contains it', async () => {
  name = `The key ${apiKey}`;
  send(events.refresh, { page: '/', key });
  await done();
  expect(JSON.stringify(sent)).not.toContain(apiKey);
  expect(JSON.stringify(sent)).toContain('The key [API key]');
});
