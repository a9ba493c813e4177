import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'astro/zod';
import { describe, expect, test } from 'vitest';
import { defineSnippet } from '../../src/client/define-snippet.ts';
import type { Transport } from '../../src/client/transport/transport.ts';
import { createLiveLoader, type LiveSnippetFilter } from '../../src/live/create-live-loader.ts';
import type { LiveSnippetOptions } from '../../src/live/live-options.ts';
import type { LiveSnippetData } from '../../src/live/live-snippets.ts';
import { apiKey, type Failing, fakeService } from '../support/service/answers.ts';
import { folderWith } from '../support/site/folder.ts';

const environment = { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: 'https://render.test' };
const failing = (fails: Failing) => ({ fails });

/** Makes a loader over a service without a network. */
function loaderFor(
  { parts }: Pick<ReturnType<typeof fakeService>, 'parts'>,
  options: LiveSnippetOptions = {},
  variables: Record<string, string | undefined> = environment,
) {
  const warnings: string[] = [];
  const loader = createLiveLoader(options, {
    readVariable: (name) => variables[name],
    urls: { base: '/docs', trailingSlash: 'always' },
    warn: (line) => warnings.push(line),
    parts,
  });
  const entry = (filter: LiveSnippetFilter) => loader.loadEntry({ filter, collection: 'snippets' });
  return { loader, entry, warnings };
}

test('an entry has the content as HTML and text, a component to render, and a tag for caches', async () => {
  const { entry } = loaderFor(fakeService('<b>Tom</b> &amp; Jerry'));
  expect(await entry({ id: 42 })).toEqual({
    id: '42',
    data: { content: '<b>Tom</b> &amp; Jerry', text: 'Tom & Jerry', name: undefined, variant: 'render' },
    rendered: { html: '<b>Tom</b> &amp; Jerry' },
    cacheHint: { tags: ['snippet-42'] },
  });
});

test.for<[what: string, filter: LiveSnippetFilter, url: string]>([
  ['an id as text', { id: '42' }, 'https://render.test/snippets/42/render'],
  ['params', { id: 7, params: { plan: 'pro' } }, 'https://render.test/snippets/7/render?plan=%22pro%22'],
  [
    'a defined snippet, with the defaults of its schema',
    { of: defineSnippet({ id: 9, params: z.object({ seats: z.number().default(3) }) }), params: {} },
    'https://render.test/snippets/9/render?seats=3',
  ],
])('%s', async ([, filter, url]) => {
  const asked: string[] = [];
  const { parts } = fakeService('content');
  const transport: Transport = {
    ...(parts.transport as Transport),
    send: (request, signal) => {
      asked.push(decodeURI(request.url));
      return (parts.transport as Transport).send(request, signal);
    },
  };
  await loaderFor({ parts: { ...parts, transport } }).entry(filter);
  expect(asked).toHaveLength(1);
  expect(new URL(asked[0] ?? '').pathname).toBe(new URL(url).pathname);
});

describe('errors', () => {
  test('a snippet that does not exist is no entry', async () => {
    expect(await loaderFor(fakeService(failing(404))).entry({ id: 42 })).toBeUndefined();
  });

  test.for<[code: string, fails: Failing]>([
    ['unauthorized', 401],
    ['payment-required', 402],
    ['forbidden', 403],
    ['server-error', 500],
    ['network', 'network'],
    ['timeout', 'timeout'],
  ])('%s is the error of the entry, with a hint', async ([code, fails]) => {
    expect(await loaderFor(fakeService(failing(fails))).entry({ id: 42 })).toEqual({
      error: expect.objectContaining({
        name: 'LiveSnippetError',
        code,
        message: expect.stringContaining('Snippet 42'),
        hint: expect.any(String),
      }),
    });
  });

  test.for<[code: string, filter: LiveSnippetFilter, options?: LiveSnippetOptions, content?: string]>([
    ['invalid-id', { id: 'pricing' }],
    ['invalid-params', { id: 1, params: { at: Number.NaN } }],
    ['sanitize-failed', { id: 1 }, { sanitize: (() => undefined) as never }],
    ['script-refused', { id: 1 }, { scripts: 'error' }, '<script>alert(1)</script>'],
    ['left-open', { id: 1 }, { strict: true }, 'free <!-- until'],
    ['published-key', { id: 1 }, {}, `The key is ${apiKey}.`],
  ])('%s', async ([code, filter, options, content = 'content']) => {
    const result = await loaderFor(fakeService(content), options).entry(filter);
    expect(result).toEqual({ error: expect.objectContaining({ code }) });
    expect(JSON.stringify(result) + String((result as { error: Error }).error)).not.toContain(apiKey);
  });

  test.for<[code: string, variables: Record<string, string>]>([
    ['missing-key', { SNIPPETS_RENDER_BASE_URL: 'https://render.test' }],
    ['missing-key', { SNIPPETS_API_KEY: '', SNIPPETS_RENDER_BASE_URL: 'https://render.test' }],
    ['missing-url', { SNIPPETS_API_KEY: apiKey }],
    ['invalid-options', { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: 'http://render.test' }],
    ['invalid-options', { SNIPPETS_API_KEY: 'short', SNIPPETS_RENDER_BASE_URL: 'https://render.test' }],
  ])('%s if the environment is %j', async ([code, variables]) => {
    const result = await loaderFor(fakeService('content'), {}, variables).entry({ id: 1 });
    expect(result).toEqual({ error: expect.objectContaining({ code }) });
  });

  test('a mistake in code is thrown as what it is', async () => {
    const transport: Transport = {
      capacity: 1,
      send: () => {
        throw new TypeError('undefined is not a function');
      },
      close: async () => {},
    };
    expect(await loaderFor({ parts: { transport } }).entry({ id: 1 })).toEqual({
      error: expect.objectContaining({ code: 'internal-error' }),
    });
    const { loader } = loaderFor(fakeService('content'));
    await expect(loader.loadEntry({ filter: undefined as never, collection: 'snippets' })).rejects.toThrow(
      TypeError,
    );
  });

  test('a service that never answers is an error within the timeout', async () => {
    const transport: Transport = { capacity: 1, send: () => new Promise(() => {}), close: async () => {} };
    const start = performance.now();
    expect(await loaderFor({ parts: { transport } }, { timeout: '200ms' }).entry({ id: 42 })).toEqual({
      error: expect.objectContaining({ code: 'timeout', message: expect.stringContaining('Snippet 42') }),
    });
    expect(performance.now() - start).toBeGreaterThan(150);
  });
});

test('rules are applied, and flaws are warned of', async () => {
  const content = '<p onclick="alert(1)">free <!-- until</p>';
  const { entry, warnings } = loaderFor(fakeService(content), {
    scripts: 'strip',
    sanitize: (html, { id, params }) => html.replace('free', `${id} ${params?.['plan']}`),
  });
  expect(await entry({ id: 42, params: { plan: 'pro' } })).toMatchObject({
    data: { content: '<p >42 pro <!-- until</p>' },
  });
  expect(warnings).toEqual([
    expect.stringContaining('Snippet 42 leaves a comment'),
    expect.stringContaining('Snippet 42 contains the attribute onclick, which is removed'),
  ]);
});

test('a collection has the snippets that are named, and no other', async () => {
  const { loader } = loaderFor(fakeService('first', failing(404), 'third'));
  const load = (filter?: { ids: number[] }) =>
    loader.loadCollection({ filter: filter as never, collection: 'snippets' });
  // The order of requests is random, and so is which of them is answered with 404.
  expect(await load({ ids: [1, 2, 3] })).toMatchObject({
    entries: [{ data: { content: expect.any(String) } }, { data: { content: expect.any(String) } }],
    cacheHint: { tags: ['snippet-1', 'snippet-2', 'snippet-3'] },
  });
  expect(await load()).toEqual({
    error: expect.objectContaining({
      code: 'invalid-options',
      hint: expect.stringContaining('{ ids: [42] }'),
    }),
  });
});

test('with maxAge, the last content replaces a service that is down', async () => {
  const source = fakeService('first', failing('network'));
  const clock = { now: () => now, random: () => 0, wait: async () => {} };
  let now = 1_000_000;
  const { entry, warnings } = loaderFor({ parts: { ...source.parts, clock } }, { maxAge: '1m' });
  expect(await entry({ id: 1 })).toMatchObject({ data: { content: 'first' } });
  now += 30_000;
  expect(await entry({ id: 1 })).toMatchObject({ data: { content: 'first' } });
  await expect
    .poll(() => warnings)
    .toEqual([expect.stringContaining('The last content is shown meanwhile.')]);
  now += 60_000;
  expect(await entry({ id: 1 })).toEqual({ error: expect.objectContaining({ code: 'network' }) });
});

test('a key that is renewed in the environment is used for the next page', async () => {
  const variables = { ...environment };
  const keys: string[] = [];
  const { parts } = fakeService('content');
  const transport: Transport = {
    ...(parts.transport as Transport),
    send: (request, signal) => {
      keys.push(request.headers['authorization'] ?? '');
      return (parts.transport as Transport).send(request, signal);
    },
  };
  const { entry } = loaderFor({ parts: { ...parts, transport } }, { maxAge: '1h' }, variables);
  await entry({ id: 1 });
  await entry({ id: 1 });
  variables.SNIPPETS_API_KEY = 'sk_test_renewed_0123456789';
  await entry({ id: 1 });
  expect(keys).toEqual([`Bearer ${apiKey}`, 'Bearer sk_test_renewed_0123456789']);
});

test('snippets that were only retrieved for a while are rendered again', async () => {
  let isBroken = true;
  let now = 1_000_000;
  const { parts } = fakeService('content');
  const asked: string[] = [];
  const transport: Transport = {
    ...(parts.transport as Transport),
    async send(request, signal) {
      const isRender = request.url.endsWith('/render');
      asked.push(isRender ? 'render' : 'retrieve');
      const response = await (parts.transport as Transport).send(request, signal);
      if (isRender) return isBroken ? { ...response, status: 500 } : response;
      const id = Number(request.url.split('/').at(-1));
      return { ...response, body: Buffer.from(JSON.stringify({ id, content: 'content' })) };
    },
  };
  const clock = { now: () => now, random: () => 0, wait: async () => {} };
  const { entry } = loaderFor(
    { parts: { limits: { fallbacksInARow: 2 }, transport, clock } },
    {},
    { ...environment, SNIPPETS_RETRIEVE_BASE_URL: 'https://retrieve.test' },
  );
  for (const id of [1, 2, 3]) expect(await entry({ id })).toMatchObject({ data: { variant: 'retrieve' } });
  isBroken = false;
  asked.length = 0;
  expect(await entry({ id: 4 })).toMatchObject({ data: { variant: 'retrieve' } });
  expect(asked).toEqual(['retrieve']);
  now += 61_000;
  expect(await entry({ id: 5 })).toMatchObject({ data: { variant: 'render' } });
});

test.for<[options: Record<string, unknown>, message: RegExp]>([
  [{ maxage: '1m' }, /"maxage" is not an option. Did you mean `maxAge`\?/],
  [{ apiKey: 'sk_test_0123456789' }, /"apiKey" is not an option/],
  [{ timeout: 3 }, /timeout must be a duration/],
  [{ timeout: '0s' }, /timeout must be longer/],
  [{ maxAge: '10' }, /maxAge must be a duration/],
  [{ scripts: 'drop' }, /scripts must be/],
  [{ links: true }, /links must be 'base'/],
  [{ sanitize: true }, /sanitize must be a function/],
  [{ strict: 'yes' }, /strict must be/],
])('the options %j are refused', ([options, message]) => {
  expect(() => loaderFor(fakeService('content'), options)).toThrow(message);
});

test('links get the base path of the site, if that is wanted', async () => {
  const content = '<a href="/pricing">prices</a> <img src="/a.png"> <a href="https://other.test/x">other</a>';
  const linked = async (options: LiveSnippetOptions) => {
    const entry = await loaderFor(fakeService(content), options).entry({ id: 1 });
    return (entry as { data: LiveSnippetData }).data.content;
  };
  expect(await linked({})).toBe(content);
  expect(await linked({ links: 'base' })).toBe(
    '<a href="/docs/pricing/">prices</a> <img src="/docs/a.png"> <a href="https://other.test/x">other</a>',
  );
});

test('a flaw is warned of once, however often its snippet is fetched', async () => {
  const { entry, warnings } = loaderFor(fakeService('<b>bold', '<b>bold', '<i>italic', '<b>bold'));
  for (let time = 0; time < 4; time += 1) await entry({ id: 42 });
  expect(warnings).toHaveLength(2);
});

describe.each([
  ["'warn' by default, so that it runs and is warned of", undefined, true, 1],
  ["'warn'", 'warn', true, 1],
  ["'allow'", 'allow', true, 0],
  ["'strip'", 'strip', false, 1],
] as const)('a script with scripts: %s', (_what, scripts, runs, warned) => {
  test('is treated as in a page that is built', async () => {
    const { entry, warnings } = loaderFor(fakeService('<script>alert(1)</script>'), { scripts });
    const content = (await entry({ id: 42 })) as { data: LiveSnippetData };
    expect(content.data.content.includes('<script>')).toBe(runs);
    expect(warnings).toHaveLength(warned);
  });
});

describe('a file with the key', () => {
  const { SNIPPETS_API_KEY: _key, ...withoutKey } = environment;
  const keyFile = async (text: string) => join((await folderWith({ 'key.txt': text })).directory, 'key.txt');
  const get = async (variables: Record<string, string>) =>
    loaderFor(fakeService('content'), {}, { ...withoutKey, ...variables }).entry({ id: 1 });

  test('is read where the server runs, unless the key is set, too', async () => {
    const file = await keyFile(`${apiKey}\n`);
    const content = { data: expect.objectContaining({ content: 'content' }) };
    expect(await get({ SNIPPETS_API_KEY_FILE: file })).toMatchObject(content);
    expect(await get({ SNIPPETS_API_KEY_FILE: '/nowhere', SNIPPETS_API_KEY: apiKey })).toMatchObject(content);
  });

  test('is read anew for each page, so that a key can be renewed', async () => {
    const file = await keyFile('short');
    const { entry } = loaderFor(fakeService('content'), {}, { ...withoutKey, SNIPPETS_API_KEY_FILE: file });
    expect(await entry({ id: 1 })).toEqual({ error: expect.objectContaining({ code: 'invalid-options' }) });
    await writeFile(file, apiKey);
    expect(await entry({ id: 1 })).toMatchObject({ data: { content: 'content' } });
  });

  test.for([
    ['is missing', undefined, 'does not exist on the server'],
    ['is empty', '', 'is empty'],
    ['is too long', 'x'.repeat(100_000), 'could not be read: it is longer than 64 KiB'],
  ] as const)('that %s is the error of the entry, which does not show its name', async ([, text, flaw]) => {
    const file = text === undefined ? `/nowhere/${apiKey}` : await keyFile(text);
    const result = await get({ SNIPPETS_API_KEY_FILE: file });
    expect(result).toEqual({
      error: expect.objectContaining({ code: 'unreadable-key-file', message: expect.stringContaining(flaw) }),
    });
    expect((result as { error: Error }).error.message).not.toContain(file);
  });
});
