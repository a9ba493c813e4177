import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { defineSnippet, SnippetError } from '../../src/client/index.ts';
import { createRequest, parseRequest } from '../../src/client/snippet-request.ts';
import { embedStart } from '../../src/components/embed-element.ts';
import { SiteError, UserError, userError } from '../../src/failures/errors.ts';
import { snippetLoader } from '../../src/loader/loader.ts';
import { cleanJson, cleanLines, cleanText } from '../../src/text/clean-text.ts';
import { keySearch, protectKey } from '../../src/text/known-keys.ts';
import { httpServer } from '../support/http/tls-server.ts';
import { authorityFile, serviceCertificate } from '../support/service/authority.ts';
import { fileSite } from '../support/site/built-site.ts';
import { type Site, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

const key = 'sk_live_8d1f&27c3"a9/e6+4b50';
protectKey(key);

/** The key with its special characters escaped, with each kind of escape in turn. */
function spell(escapesOf: (hex: string, code: number) => string[]): string {
  let next = 0;
  return key.replace(/[^A-Za-z0-9]/g, (character) => {
    const code = character.charCodeAt(0);
    const escapes = escapesOf(code.toString(16), code);
    next += 1;
    return escapes[next % escapes.length] ?? '';
  });
}

/** The key as encoders of HTML, JSON, URLs, hexadecimal and base64 write it. */
const spellings: Record<string, string> = {
  'as it is': key,
  'escaped with &amp;': key.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'escaped with &#38;': key.replaceAll('&', '&#38;').replaceAll('"', '&#34;'),
  'escaped with &#x26;': key.replaceAll('&', '&#x26;').replaceAll('"', '&#x22;').replaceAll('/', '&#x2F;'),
  'with references for its special characters': spell((hex, code) => [
    `&#${code};`,
    `&#x${hex};`,
    `&#0${code};`,
  ]),
  'escaped for JSON': JSON.stringify(key).slice(1, -1),
  'escaped for JSON with its slashes': JSON.stringify(key).slice(1, -1).replaceAll('/', '\\/'),
  'escaped for JSON in a script': key.replaceAll('&', '\\u0026').replaceAll('"', '\\"'),
  'encoded for a URL': encodeURIComponent(key),
  'encoded for a URL with all of its special characters': spell((hex) => [
    `%${hex}`,
    `%${hex.toUpperCase()}`,
  ]),
  'in hexadecimal': Buffer.from(key).toString('hex'),
  'in upper-case hexadecimal': Buffer.from(key).toString('hex').toUpperCase(),
  'in base64': Buffer.from(`Bearer ${key}`).toString('base64'),
  'in base64url': Buffer.from(`:${key}`).toString('base64url'),
};

describe('the API key in text from outside', () => {
  test.for(Object.entries(spellings))('is found in the output and hidden in messages %s', ([, spelling]) => {
    const containsKey = keySearch(key).isIn;
    expect(containsKey(Buffer.from(`<p title="${spelling}">ä</p>`))).toBe(true);
    expect(containsKey(`<p title="${spelling.slice(spelling.length / 2)}">ä</p>`)).toBe(false);
    for (const clean of [cleanText, cleanLines]) {
      const text = clean(`before ${spelling} after`);
      expect(text).toMatch(/^before .*\[API key\].* after$/);
      expect(text).not.toContain(spelling);
    }
  });

  test.for([
    ['an escape code', '\u001b[0m'],
    ['a terminal link', '\u001b]8;;https://evil.test\u001b\\'],
    ['a control character', '\u0000'],
    ['a zero-width space', '\u200b'],
    ['a soft hyphen', '\u00ad'],
    ['a line break', '\r\n'],
  ])('is hidden when %s splits it', ([, splitter]) => {
    for (const at of [1, 5, 12, key.length - 1]) {
      const split = key.slice(0, at) + splitter + key.slice(at);
      expect(cleanText(`x ${split} y`)).toBe('x [API key] y');
      expect(cleanLines(`x ${split} y`)).toBe('x [API key] y');
    }
  });

  test('is not shown in part where text is cut', () => {
    for (let before = 280; before < 300; before += 1) {
      expect(cleanText(`${'x'.repeat(before)} ${key} ${'y'.repeat(2000)}`)).not.toContain('sk_');
    }
    for (let escapes = 270; escapes < 300; escapes += 1) {
      expect(cleanText(`${'\u001b[0m'.repeat(escapes)}x ${key} ${'y'.repeat(9)}`)).not.toContain('sk_');
    }
  });

  const text = `a \u001b[31m${key.slice(0, 9)}\u001b[0m${key.slice(9)} b`;

  test('is in no error, whatever the error contains', () => {
    const errors = [
      new SnippetError('network', text, { snippetId: 1 }),
      new SiteError('sanitize-failed', text, 1),
      userError('missing-key', text, text),
      new UserError(text, text, ['not-found', 'left-open']),
    ];
    for (const error of errors) {
      expect(error.message).toContain('a [API key] b');
      expect([error.message, Object.values(error)].join()).not.toContain('live');
    }
  });

  test('is hidden in JSON, which stays valid', () => {
    const value = { [key]: [`x${key}`, 'a\u009bb\u202ec', '##[group]##vso[x]', 1, null] };
    const json = cleanJson(value);
    expect(json).not.toMatch(/[^\n\x20-\x7e]|##\w*\[/);
    expect(JSON.parse(json)).toEqual({
      '[API key]': ['x[API key]', 'a\u009bb\u202ec', '##[group]##vso[x]', 1, null],
    });
  });
});

describe('a line from outside is not a command for a CI runner', () => {
  // Runners look for `::` after blanks, and for `##[` or `##name[` anywhere.
  const isCommand = (line: string) => line.trimStart().startsWith('::') || /##\w*\[/.test(line);

  test.for([
    '::stop-commands::x',
    ' \t ::set-output name=a::b',
    '\u00a0\u3000::error::x',
    '\u001b[0m::error::x',
    '\u200b::error::x',
    ':\u200b:error::x',
    ':::error::x',
    '##[group]x',
    'text ##[error]x',
    '##vso[task.setvariable variable=a]b',
    "##teamcity[buildStop comment='x']",
    '#\u001b[0m#[error]x',
  ])('%j', (line) => {
    for (const before of ['', 'a\n', 'a\r', 'a\u2028', 'a\n    ']) {
      for (const clean of [cleanText, cleanLines]) {
        const lines = clean(`${before}${line}`).split('\n');
        expect(lines.filter((one) => isCommand(`    ${one}`))).toEqual([]);
      }
    }
  });
});

describe('params with the API key are refused', () => {
  const message = 'params contains the API key. Its value is not shown on purpose.';
  const params = { plan: ['pro', { note: `x${key}` }] };

  // JSON doubles backslashes.
  test.for(Object.entries(spellings).filter(([, spelling]) => !spelling.includes('\\')))(
    '%s',
    ([, spelling]) => {
      expect(() => createRequest(1, { plan: spelling })).toThrow(message);
      expect(() => createRequest(1, { [spelling]: 1 })).toThrow(message);
    },
  );

  test('in markup and on the command line, even in JSON that is invalid', () => {
    for (const text of [JSON.stringify(params), JSON.stringify(params).slice(0, -1), `{"a":${key}}`]) {
      expect(() => parseRequest('1', text)).toThrow(message);
    }
  });

  const page = {
    isPrerendered: true,
    url: new URL('https://site.test/a/'),
    originPathname: '/a/',
    routePattern: '/a',
  };

  test('in the component, in the loader, and where a schema puts it there', async () => {
    expect(() => embedStart({ id: 1, params }, page, 'build')).toThrow(
      `<Snippet> of snippet 1 on /a/: ${message}`,
    );
    const load = () => snippetLoader({ one: { id: 1, params } }).load({ collection: 'texts' } as never);
    await expect(load()).rejects.toThrow(`texts (collection), entry "one": ${message}`);
    const schema = {
      '~standard': { version: 1 as const, vendor: 'test', validate: () => ({ value: params }) },
    };
    const of = defineSnippet({ id: 1, params: schema as never });
    await expect(embedStart({ of, params: {} }, page, 'build')).rejects.toThrow(message);
  });
});

describe('against a service that sends only hostile text', async () => {
  const split = `${key.slice(0, 9)}\u001b[0m${key.slice(9)}`;
  const hostile = `\n::error::pwned ${split} ${key}\n##[group]pwned \u001b]0;title\u0007`;
  const containsKey = keySearch(key).isIn;
  let leaks = false;
  const server = await httpServer(
    (request, response) => {
      const id = Number(/snippets\/(\d+)/.exec(request.url ?? '')?.[1]);
      const answers = id >= 100;
      const problem = { status: 404, title: hostile, detail: hostile, type: hostile };
      const content = id === 101 || leaks ? `<b>${key}</b>` : '<b>fine</b>';
      response.writeHead(answers ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answers ? { id, name: hostile, content } : problem));
    },
    { using: serviceCertificate() },
  );
  const environment = {
    SNIPPETS_API_KEY: key,
    SNIPPETS_RETRIEVE_BASE_URL: server.origin,
    NODE_EXTRA_CA_CERTS: authorityFile(),
  };
  const site = await fileSite({ 'src/pages/index.astro': '<p><snippet-embed id="102" /></p>' });
  afterAll(() => server.close());
  const run = (...argv: string[]) => cli(site.directory, argv, environment);

  function expectHarmless(output: string) {
    expect(output).toContain('pwned');
    expect(containsKey(output)).toBe(false);
    expect(output).not.toContain('\u001b]0;');
    for (const line of output.split('\n')) expect(line).not.toMatch(/^\s*::|##\w*\[/);
  }

  async function expectNowhere({ directory, list }: Site) {
    for (const name of await list('.')) {
      expect(containsKey(await readFile(join(directory, name))), name).toBe(false);
    }
  }

  test('a build', async () => {
    const failing = await temporarySite({ 'src/pages/index.md': '<snippet-embed id="1"></snippet-embed>' });
    const output = await exits(1, failing.build(environment));
    expectHarmless(output);
  });

  test.for([
    ['get of a snippet that fails', ['get', '1']],
    ['get of a snippet with a hostile name', ['get', '100']],
    ['doctor', ['doctor', '1']],
  ] as const)('%s', async ([, argv]) => {
    expectHarmless((await run(...argv)).output);
  });

  test('get refuses to print content with the API key, as a build refuses to publish it', async () => {
    const output = await exits(1, run('get', '101'));
    expect(output).toContain(
      'The API key was found in snippet 101. Its content is not shown. [published-key]',
    );
    expect(output).not.toContain(key);
  });

  test('a build and a report leave the API key nowhere, and a refresh that would write it changes nothing', async () => {
    expect((await site.build(environment)).exitCode).toBe(0);
    expect((await run('report')).exitCode).toBe(0);
    await expectNowhere(site);
    leaks = true;
    for (const flags of [[], ['--dry-run']]) {
      const output = await exits(1, run('refresh', ...flags));
      expect(output).toContain('The API key would be in index.html. Nothing was written. [published-key]');
      expect(output).not.toContain(key);
    }
    leaks = false;
    expect(await site.read('index.html')).toContain('<p><b>fine</b></p>');
  });
});
