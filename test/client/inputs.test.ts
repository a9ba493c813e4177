import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseBaseUrl, snippetUrl } from '../../src/client/base-url.ts';
import { SnippetClient, SnippetError } from '../../src/client/index.ts';
import { createRequest, parseSnippetId } from '../../src/client/snippet-request.ts';
import { keySearch } from '../../src/text/known-keys.ts';

const apiKey = 'sk_inputs_5b1e8f2c7d90a364';
const renderBaseUrl = 'https://render.test/delivery';

function rejection(run: () => unknown): SnippetError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(SnippetError);
    return error as SnippetError;
  }
  throw new Error('Nothing was rejected.');
}

test.for([
  [1, 1],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ['42', 42],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
] as const)('%o is a valid snippet id', ([value, id]) => {
  expect(parseSnippetId(value)).toBe(id);
});

test.for([
  [' 42 ', 'a positive whole number without white space, not " 42 ".'],
  ['42\n', 'a positive whole number without white space, not "42\\n".'],
  ['\u00a042', 'a positive whole number without white space, not "\\u00a042".'],
  ['42\u200b', 'a positive whole number, not "42\\u200b".'],
  ['042', 'a positive whole number, not "042".'],
  ['', 'a positive whole number, not "".'],
  ['٤٢', 'a positive whole number, not "٤٢".'],
] as const)('the id %j is refused with what is wrong', ([value, said]) => {
  expect(rejection(() => parseSnippetId(value)).message).toBe(`A snippet id must be ${said}`);
});

test.for([
  ['https://x.test', 'https://x.test/snippets/42/render'],
  ['https://x.test/', 'https://x.test/snippets/42/render'],
  ['https://x.test/a/b', 'https://x.test/a/b/snippets/42/render'],
  ['https://x.test/a/b//', 'https://x.test/a/b/snippets/42/render'],
  ['https://x.test:8443/v1', 'https://x.test:8443/v1/snippets/42/render'],
  ['HTTPS://X.test/V1', 'https://x.test/V1/snippets/42/render'],
] as const)('the base URL %s keeps its path prefix', ([base, url]) => {
  expect(snippetUrl(parseBaseUrl('base', base), 'render', createRequest(42))).toBe(url);
});

test.for([
  ['http://x.test', 'must start with "https:"'],
  ['ftp://x.test', 'must start with "https:"'],
  ['x.test', 'must be an absolute URL'],
  ['', 'must be an absolute URL'],
  ['https://', 'must be an absolute URL'],
  ['https://user@x.test', 'must not contain a user name or password'],
  ['https://user:hunter2@x.test', 'must not contain a user name or password'],
  ['http://user:hunter2@x.test', 'must not contain a user name or password'],
  ['https://x.test/?a=1', 'must not contain a query'],
  ['https://x.test/?', 'must not contain a query'],
  ['https://x.test/#a', 'must not contain a query or a fragment.'],
  [42, 'must be a string.'],
] as const)('the base URL %s is rejected', ([base, message]) => {
  const error = rejection(() => new SnippetClient({ apiKey, renderBaseUrl: base as string }));
  expect(error.code).toBe('invalid-options');
  expect(error.message).toContain(`renderBaseUrl ${message}`);
  expect(error.message).not.toContain('hunter2');
});

test.for([
  ['', 'is empty'],
  ['1234567', 'has fewer than 8 characters'],
  ['sk_secret_value\n', 'has white space or a line break'],
  [' sk_secret_value', 'has white space or a line break'],
  ['sk_secret value', 'contains a space, a control character or a non-ASCII character.'],
  ['sk_secret\r\nx: y', 'contains a space, a control character or a non-ASCII character.'],
  ['sk_secret_välue', 'contains a space, a control character or a non-ASCII character.'],
  [undefined, 'is not a string'],
] as const)('the malformed API key %j is rejected and not shown', ([key, message]) => {
  const error = rejection(() => new SnippetClient({ apiKey: key as string, renderBaseUrl }));
  expect(error.code).toBe('invalid-options');
  expect(error.message).toContain(message);
  if (key) expect(inspect(error)).not.toContain(key.trim());
});

test.for([0, -1, 1.5, Number.NaN])('a concurrency of %d is rejected', (concurrency) => {
  expect(rejection(() => new SnippetClient({ apiKey, renderBaseUrl, concurrency })).code).toBe(
    'invalid-options',
  );
});

test('a limit that is not public is rejected by name', () => {
  const limits = { attempts: 3, bodyBytes: 100 };
  const error = rejection(() => new SnippetClient({ apiKey, renderBaseUrl, limits }));
  expect(error.code).toBe('invalid-options');
  expect(error.message).toBe(
    'limits.bodyBytes is not a limit. There are attempts, attemptTimeout, deadline, retryAfter.',
  );
});

test.for([
  ['attempt', 'attempts'],
  ['deadLine', 'deadline'],
  ['retry_after', 'retryAfter'],
] as const)('for the misspelled limit %s, a client suggests %s', ([written, intended]) => {
  const error = rejection(() => new SnippetClient({ apiKey, renderBaseUrl, limits: { [written]: 3 } }));
  expect(error.message).toBe(`limits.${written} is not a limit. Did you mean \`${intended}\`?`);
});

test('a client without any base URL is rejected', () => {
  expect(rejection(() => new SnippetClient({ apiKey }))).toMatchObject({
    code: 'invalid-options',
    message: 'Set renderBaseUrl, retrieveBaseUrl, or both.',
  });
});

test('a request to a variant without a base URL is rejected', async () => {
  // The shortest key that is allowed.
  const client = new SnippetClient({ apiKey: 'eight_ch', renderBaseUrl });
  await expect(client.retrieve(1)).rejects.toMatchObject({
    code: 'invalid-options',
    message: 'retrieveBaseUrl is not set.',
  });
  await client.close();
});

test('params are rejected if they contain a key that became known after they were made', async () => {
  const later = 'sk_later_7f3d91c2b5a846e0';
  const request = createRequest(1, { key: later });
  const service = new SnippetClient({ apiKey: later, renderBaseUrl });
  await expect(service.fetch(request)).rejects.toMatchObject({
    code: 'invalid-params',
    message: 'Snippet 1: its params contain the API key.',
  });
  await service.close();
});

test('printing a client does not show its API key', async () => {
  const client = new SnippetClient({ apiKey, renderBaseUrl });
  const printed = inspect(client, { showHidden: true, depth: 10 }) + JSON.stringify(client);
  expect(keySearch(apiKey).isIn(printed)).toBe(false);
  await client.close();
});

test('an API key in base64 is found at any offset of a longer text', () => {
  for (const before of ['', 'x', 'xy', 'xyz', 'Bearer ']) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const text = Buffer.from(`${before}${apiKey} and more`).toString(encoding);
      expect(keySearch(apiKey).isIn(text), `${before} ${encoding}`).toBe(true);
    }
  }
});

describe('an API key is found in', () => {
  const secret = 'sk_live+7f3d91c2/b5a846e0-9d1b';
  const inUtf16 = Buffer.from(`\ufeffnote;${secret}\r\n`, 'utf16le');
  const mails = Array.from({ length: 80 }, (_, index) => {
    const encoded = Buffer.from(`${'x'.repeat(index)}${secret} and more`).toString('base64');
    return (encoded.match(/.{1,76}/g) ?? []).join(index % 2 ? '\r\n' : '\n');
  });
  const long = `sk_${'9f'.repeat(60)}`;
  const entities: Record<string, string> = { '+': '&plus;', '/': '&sol;', _: '&lowbar;' };
  test.each<[place: string, texts: (Buffer | string)[], key?: string]>([
    ['little-endian UTF-16', [inUtf16]],
    ['big-endian UTF-16', [Buffer.from(inUtf16).swap16()]],
    [
      'UTF-16 in base64, escaped for HTML',
      [btoa(secret), secret.replace('+', '&#43;')].map((text) => Buffer.from(text, 'utf16le')),
    ],
    ['base64 with lines of 76 characters', mails],
    ['base64 with lines of 76 characters, in a file', mails.map((mail) => Buffer.from(mail))],
    ['base64 with line breaks that JSON escapes', mails.map((mail) => JSON.stringify(mail))],
    [
      'base64 with indented lines of 60 characters, for a long key',
      [btoa(`a: ${long}, b`).replace(/.{60}/g, '$&\n  ')],
      long,
    ],
    [
      'hexadecimal with lines of 60 characters',
      [`00${Buffer.from(secret).toString('hex')}`.replace(/.{60}/g, '$&\n')],
    ],
    ['named entities of HTML', [secret.replace(/[+/_]/g, (character) => `${entities[character]}`)]],
    [
      'escapes of a script',
      [secret.replace(/\W/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`)],
    ],
  ])('%s', (_place, texts, key = secret) => {
    for (const text of texts) expect(keySearch(key).isIn(text), `${text}`).toBe(true);
  });
});
