import { join } from 'node:path';
import { expect, test } from 'vitest';
import snippets from '../../src/index.ts';
import { requireConnection } from '../../src/settings/connection.ts';
import { readEnvironment } from '../../src/settings/environment.ts';
import { parseOptions } from '../../src/settings/parse-options.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { certificate, makeCertificate } from '../support/http/tls-server.ts';
import { folderWith } from '../support/site/folder.ts';

function rejection(run: () => unknown): { message: string; hint?: string } {
  try {
    run();
  } catch (error) {
    return error as Error & { hint?: string };
  }
  throw new Error('Nothing was rejected.');
}

test('an unknown option is an error that names it, and apiKey says where the key belongs', () => {
  const { message, hint } = rejection(() => snippets({ apiKey: 'sk_0123456789', retries: 3 } as never));
  expect(message).toContain('"apiKey" is not an option\n- "retries" is not an option');
  expect(message).not.toContain('sk_0123456789');
  expect(hint).toContain('set SNIPPETS_API_KEY in the environment');
  expect(hint).toContain('The options are renderBaseUrl, ');
});

test.for([
  [{ staleIfErorr: '7d' }, '"staleIfErorr" is not an option. Did you mean `staleIfError`?'],
  [{ renderBaseURL: 'https://x.test' }, '"renderBaseURL" is not an option. Did you mean `renderBaseUrl`?'],
  [{ 'stale-if-error': '7d' }, 'Did you mean `staleIfError`?'],
  [{ image: { hosts: ['a.test'] } }, 'Did you mean `images`?'],
  [{ cache: { maxage: '10m' } }, '"cache.maxage" is not an option. Did you mean `cache.maxAge`?'],
  [{ cache: { drivers: 'redis' } }, 'Did you mean `cache.driver`?'],
  [{ images: { host: ['a.test'] } }, '"images.host" is not an option. Did you mean `images.hosts`?'],
  [{ maxAge: '10m' }, '"maxAge" is not an option. Did you mean `cache.maxAge`?'],
  [{ hosts: ['a.test'] }, 'Did you mean `images.hosts`?'],
  [{ cache: { staleIfError: '7d' } }, '"cache.staleIfError" is not an option. Did you mean `staleIfError`?'],
])('for the misspelled option in %o, the right name is suggested instead of all names', ([options, line]) => {
  const { message, hint } = rejection(() => snippets(options as never));
  expect(message).toContain(line);
  expect(hint).toBe('Fix it in the config or in the environment.');
});

test('of two unknown options, one near to a name and one of the cache, each has its own advice', () => {
  const { message, hint } = rejection(() => snippets({ offlin: true, cache: { url: 'redis://x' } } as never));
  expect(message).toContain('"offlin" is not an option. Did you mean `offline`?');
  expect(hint).toContain('The options of `cache` are driver, options, maxAge.');
  expect(hint).not.toContain('renderBaseUrl');
});

test.for([
  [{ concurrency: 0 }, 'concurrency'],
  [{ concurrency: 1.5 }, 'concurrency'],
  [
    { ca: '/etc/ssl/ca.pem' },
    'must be the text of a certificate, not the path of a file. A path goes into SNIPPETS_CA_FILE',
  ],
  [{ ca: '' }, 'ca: is empty'],
  [{ ca: certificate.key }, 'ca: has a private key'],
  [
    { ca: `${certificate.ca}${certificate.ca.slice(60)}` },
    'ca: has a certificate that is malformed or cut off',
  ],
  [{ ca: '-----BEGIN CERTIFICATE-----\nMIIB' }, 'has a certificate that is malformed or cut off'],
  [
    { ca: `${certificate.ca}${certificate.ca.slice(0, 200)}` },
    'has a certificate that is malformed or cut off',
  ],
  [{ ca: [certificate.ca, certificate.ca.slice(0, 200)] }, 'has a certificate that is malformed or cut off'],
  [
    { ca: `${certificate.ca.slice(0, 200)}\n${certificate.ca}` },
    'has a certificate that is malformed or cut off',
  ],
  [{ renderBaseUrl: 7 }, 'renderBaseUrl'],
  [{ staleIfError: '7' }, 'staleIfError: must be a duration with its unit'],
  [{ cache: { maxAge: 'soon' } }, 'maxAge: must be a duration with its unit'],
  [{ cache: { driver: 'rocks' } }, 'must be the name of an unstorage driver, such as "redis"'],
  [{ cache: { driver: 'redsi' } }, 'Did you mean `redis`?'],
  [{ cache: { driver: 'fsLite' } }, 'Did you mean `fs-lite`?'],
  [{ cache: { url: 'redis://x' } }, '"cache.url" is not an option'],
  [{ 'scripts ': 'strip' }, '"scripts " is not an option'],
  [{ 'strict\u200b': true }, '"strict\\u200b" is not an option'],
  [{ sanitize: 'x' }, 'sanitize: must be a function'],
  [{ scripts: 'no' }, 'scripts: '],
  [{ csp: true }, 'csp: '],
  [{ links: true }, 'links: '],
  [{ params: { locale: 'de' } }, 'params: must be a function'],
  [{ missingKey: 'ignore' }, 'missingKey: '],
  [{ cache: false, offline: true }, 'staleIfError and offline need the cache'],
  [{ cache: { driver: {} } }, 'cache.driver: must be an unstorage driver'],
  [{ exclude: [7] }, 'exclude.0: '],
  [{ exclude: '' }, 'exclude: must be a glob pattern, not an empty text'],
  [{ exclude: ['docs/**', ' '] }, 'exclude: must be a glob pattern, not an empty text'],
  [{ exclude: ['docs/**', '!docs/plans/**'] }, 'exclude: has a pattern that begins with "!" beside others'],
  ['x', 'the options'],
] as const)('the options %o are rejected', ([options, message]) => {
  expect(rejection(() => snippets(options as never)).message).toContain(message);
});

test('an option wins over its variable, and an empty variable counts as not set', () => {
  const options = parseOptions({ renderBaseUrl: 'https://option.test/a/' });
  const settings = resolveSettings(options, {
    SNIPPETS_API_KEY: '',
    SNIPPETS_RENDER_BASE_URL: 'https://variable.test',
    SNIPPETS_RETRIEVE_BASE_URL: 'https://variable.test/b',
  });
  expect(settings).toMatchObject({
    apiKey: undefined,
    renderBaseUrl: 'https://option.test/a',
    retrieveBaseUrl: 'https://variable.test/b',
    concurrency: 100,
  });
});

test('certificates of the option ca and of SNIPPETS_CA_FILE are trusted together, and the option is recorded', async () => {
  const { ca: other } = await makeCertificate();
  const { directory } = await folderWith({ 'ca.pem': other });
  const SNIPPETS_CA_FILE = join(directory, 'ca.pem');
  const environment = { SNIPPETS_API_KEY: 'sk_0123456789', SNIPPETS_CA_FILE };
  const both = resolveSettings(parseOptions({ ca: certificate.ca }), environment);
  expect(both).toMatchObject({ ca: [certificate.ca, other.trim()], caOption: certificate.ca });
  const file = resolveSettings(parseOptions({}), environment);
  expect(file).toMatchObject({ ca: [other.trim()], caOption: undefined });
  const empty = resolveSettings(parseOptions({}), { ...environment, SNIPPETS_CA_FILE: '' });
  expect(empty).toMatchObject({ ca: undefined, caOption: undefined });
});

test('without an API key, SNIPPETS_CA_FILE is not read: where secrets are missing, so may be the file', () => {
  const environment = { SNIPPETS_CA_FILE: '/no/such/file.pem' };
  expect(resolveSettings(parseOptions({}), environment).ca).toBeUndefined();
  const withKey = { ...environment, SNIPPETS_API_KEY: 'sk_0123456789' };
  expect(rejection(() => resolveSettings(parseOptions({}), withKey)).message).toBe(
    'SNIPPETS_CA_FILE names "/no/such/file.pem", which does not exist.',
  );
});

test.for([
  [{}, 'SNIPPETS_API_KEY is not set. No base URL of the service is set.'],
  [
    { SNIPPETS_API_KEY: '', SNIPPETS_RENDER_BASE_URL: 'https://x.test' },
    'SNIPPETS_API_KEY is not set: it is empty, which also hides one in a .env file.',
  ],
  [
    { SNIPPETS_API_KEY: 'sk_0123456789', SNIPPETS_RENDER_BASE_URL: '' },
    'No base URL of the service is set: SNIPPETS_RENDER_BASE_URL is empty, which also hides one in a .env file.',
  ],
  [
    { SNIPPETS_API_KEY: 'sk_0123456789', SNIPPETS_RENDER_BASE_URL: '', SNIPPETS_RETRIEVE_BASE_URL: '' },
    'No base URL of the service is set: SNIPPETS_RENDER_BASE_URL and SNIPPETS_RETRIEVE_BASE_URL are empty, which also hides those in a .env file.',
  ],
  [
    { SNIPPETS_API_KEY_FILE: 'key', SNIPPETS_RENDER_BASE_URL: 'https://x.test' },
    'The file named by SNIPPETS_API_KEY_FILE does not exist.',
  ],
  [
    { SNIPPETS_API_KEY: '', SNIPPETS_API_KEY_FILE: 'key', SNIPPETS_RENDER_BASE_URL: 'https://x.test' },
    'The file named by SNIPPETS_API_KEY_FILE is empty.',
  ],
] as const)('what is missing in the environment %o is said', ([environment, message]) => {
  const settings = resolveSettings(parseOptions({}), environment);
  expect(rejection(() => requireConnection(settings)).message).toBe(message);
});

test.for([
  [{ SNIPPETS_API_KEY: '', SNIPPETS_API_KEY_FILE: 'missing' }, undefined],
  [{ SNIPPETS_API_KEY: '', SNIPPETS_API_KEY_FILE: 'empty' }, ''],
  [{ SNIPPETS_API_KEY: '', SNIPPETS_API_KEY_FILE: 'key' }, 'sk_of_a_file'],
  [{ SNIPPETS_API_KEY: '', SNIPPETS_API_KEY_FILE: '' }, ''],
] as const)('of the environment %o, the key is %j', async ([env, key]) => {
  const { directory } = await folderWith({
    empty: '\n',
    key: 'sk_of_a_file\n',
    '.env': 'SNIPPETS_API_KEY=sk_of_env',
  });
  const environment = await readEnvironment({ mode: 'production', directory }, { env, cwd: directory });
  expect(environment['SNIPPETS_API_KEY']).toBe(key);
});

test.for([
  [{ SNIPPETS_RENDER_BASE_URL: 'http://plain.test' }, 'SNIPPETS_RENDER_BASE_URL must start with "https:"'],
  [
    { SNIPPETS_RETRIEVE_BASE_URL: 'https://user:secret@x.test' },
    'SNIPPETS_RETRIEVE_BASE_URL must not contain a user name',
  ],
  [{ SNIPPETS_RETRIEVE_BASE_URL: 'x.test' }, 'SNIPPETS_RETRIEVE_BASE_URL must be an absolute URL'],
  [{ SNIPPETS_API_KEY: 'sk_secret_0123456789\n' }, 'SNIPPETS_API_KEY has white space or a line break'],
] as const)(
  'the environment %o is rejected at the start, and no secret is shown',
  ([environment, message]) => {
    const error = rejection(() => resolveSettings(parseOptions({}), environment));
    expect(error.message).toContain(message);
    expect(JSON.stringify([error.message, error.hint])).not.toContain('secret');
  },
);

test.for([
  [{ SNIPPETS_APIKEY: 'sk_secret_0123456789' }, 'SNIPPETS_API_KEY is not set, but SNIPPETS_APIKEY is.'],
  [{ SNIPPETS_API_KEI: 'sk_secret_0123456789' }, 'SNIPPETS_API_KEY is not set, but SNIPPETS_API_KEI is.'],
  [
    { SNIPPETS_API_KEY: 'sk_0123456789', SNIPPETS_RENDER_BASEURL: 'https://x.test' },
    'No base URL of the service is set, but SNIPPETS_RENDER_BASEURL is.',
  ],
  [{ SNIPPETS_WEBHOOK_SECRET: 'secret', SNIPPETS_OTHER: 'x' }, 'SNIPPETS_API_KEY is not set. '],
] as const)(
  'a missing setting names a variable that looks like a misspelling: %o',
  ([environment, message]) => {
    const settings = resolveSettings(parseOptions({}), environment);
    const error = rejection(() => requireConnection(settings));
    expect(error.message).toContain(message);
    expect(JSON.stringify([error.message, error.hint])).not.toContain('secret');
  },
);
