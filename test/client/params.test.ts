import fc from 'fast-check';
import { HttpResponse, http } from 'msw';
import { describe, expect, test } from 'vitest';
import { createRequest, parseRequest } from '../../src/client/snippet-request.ts';
import { answerRequests, client, network, renderBaseUrl } from '../support/http/network.ts';

const canonical = (params: unknown) => createRequest(1, params).params;

const invalid = (message: string) =>
  expect.objectContaining({ code: 'invalid-params', message: expect.stringContaining(message) });

answerRequests();

/** Answers requests, and records the query of each as it was sent. */
function record(): { queries: string[] } {
  const queries: string[] = [];
  network.use(
    http.get(`${renderBaseUrl}/snippets/:id/render`, ({ request }) => {
      queries.push(new URL(request.url).search);
      return HttpResponse.json({ content: '' });
    }),
  );
  return { queries };
}

test('the order of keys in params does not matter, at any depth', () => {
  const one = canonical({ b: { d: [{ z: 1, a: 2 }], c: null }, a: true });
  const other = canonical({ a: true, b: { c: null, d: [{ a: 2, z: 1 }] } });
  expect(one).toBe('{"a":true,"b":{"c":null,"d":[{"a":2,"z":1}]}}');
  expect(other).toBe(one);
});

test('params without properties are left out of the URL, like no params', async () => {
  const { queries } = record();
  const service = client();
  await service.render(1);
  await service.render(1, {});
  await service.render(1, Object.create(null));
  expect(queries).toEqual(['', '', '']);
  await service.close();
});

test('a param named __proto__ is kept like any other', () => {
  const params: unknown = JSON.parse('{"__proto__":{"x":1},"a":2}');
  expect(canonical(params)).toBe('{"__proto__":{"x":1},"a":2}');
});

const cycle: Record<string, unknown> = { name: 'cycle' };
cycle['self'] = { cycle };
const shared = { x: 1 };
let deep: unknown = 1;
for (let depth = 0; depth < 100; depth++) deep = [deep];
class Plan {}

describe('params that JSON would drop, change or reject are rejected with their path', () => {
  test.for([
    ['params.a.b is NaN', { a: { b: Number.NaN } }],
    ['params.a[1] is Infinity', { a: [1, Number.POSITIVE_INFINITY] }],
    ['params.a is a bigint', { a: 1n }],
    ['params.a is undefined', { a: undefined }],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    ['params.a[1] is undefined', { a: [1, , 3] }],
    ['params.a is a function', { a: () => 1 }],
    ['params.a is a symbol', { a: Symbol('x') }],
    ['params.a is a Map', { a: new Map() }],
    ['params.a is a Date', { a: new Date(0) }],
    ['params.a is a Plan', { a: new Plan() }],
    ['params["two words"] is a Set', { 'two words': new Set() }],
    [
      'params.a is an object with a symbol as a key: pass plain objects, arrays and values.',
      { a: { [Symbol('x')]: 1 } },
    ],
    ['params.a contains half of a surrogate pair, which cannot be sent.', { a: 'x\ud800' }],
    ['params.a has a key that contains half of a surrogate pair.', { a: { 'x\udc00': 1 } }],
    ['params.self.cycle is a circular reference.', cycle],
    ['is nested more than 64 levels deep', { a: deep }],
    ['params must be a plain object, not an array', [1]],
    ['params must be a plain object, not a string', 'x'],
    ['params must be a plain object, not null', null],
    ['params must be a plain object, not a Map', new Map()],
  ] as const)('%s', ([message, params]) => {
    expect(() => canonical(params)).toThrow(invalid(message));
  });
});

test('params may be nested up to 64 levels deep', () => {
  const nested = (levels: number): unknown => (levels === 1 ? {} : { a: nested(levels - 1) });
  expect(canonical(nested(64))).toHaveLength(2 * 64 + 4 * 63);
  expect(() => canonical(nested(65))).toThrow('is nested more than 64 levels deep');
  for (const levels of [65, 100_000]) {
    const text = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(() => parseRequest('1', text)).toThrow('is nested more than 64 levels deep');
  }
});

test('an object that occurs twice in params is not a circular reference', () => {
  expect(canonical({ a: shared, b: [shared] })).toBe('{"a":{"x":1},"b":[{"x":1}]}');
});

test.for([
  ['{"b":1,"a":2}', '{"a":2,"b":1}'],
  ['{}', undefined],
  [' {"a" : "\\u00e9"} ', '{"a":"é"}'],
  ['{"a":1,"b":{"a":2},"a":3}', '{"a":3,"b":{"a":2}}'],
] as const)('a params attribute of %s is parsed', ([text, canonical]) => {
  expect(parseRequest('1', text).params).toBe(canonical);
});

test.for(['', '{', '[]', 'null', '"x"', "{'a':1}", '{"a":"\\ud800"}'])(
  'a params attribute of %s is rejected',
  (text) => {
    expect(() => parseRequest('1', text).params).toThrow(invalid(''));
  },
);

describe('params in markup that JSON would change are rejected with their path', () => {
  test.for([
    ['{"a":9007199254740993}', 'params.a is the number 9007199254740993'],
    [
      '{"a":{"b":[1,{"c d":-12345678901234567890}]}}',
      'params.a.b[1]["c d"] is the number -12345678901234567890',
    ],
    ['{"a":1e400}', 'params.a is the number 1e400'],
    ['{"a":"1e400","b":[-1e400]}', 'params.b[0] is the number -1e400'],
    ['{"a":1e-400}', 'params.a is the number 1e-400'],
    ['{"a":0.1000000000000000055}', 'params.a is the number 0.1000000000000000055'],
  ] as const)('%s', ([text, message]) => {
    expect(() => parseRequest('1', text)).toThrow(invalid(message));
  });

  test.for([
    ['{"a":9007199254740992,"b":-9007199254740991}', '{"a":9007199254740992,"b":-9007199254740991}'],
    ['{"a":0.1,"b":1.50,"c":1e2,"d":-1.0E+1,"e":-0}', '{"a":0.1,"b":1.5,"c":100,"d":-10,"e":0}'],
    ['{"a":1e21,"b":123456789012345680000,"c":5e-324}', '{"a":1e+21,"b":123456789012345680000,"c":5e-324}'],
    ['{"a":"9007199254740993, \\"a\\":[1e400]","b":[]}', '{"a":"9007199254740993, \\"a\\":[1e400]","b":[]}'],
    ['{"a":[1,2],"b":{"a":1},"c":[{"a":1},{"a":1}]}', '{"a":[1,2],"b":{"a":1},"c":[{"a":1},{"a":1}]}'],
  ] as const)('%s is passed on with the same numbers', ([text, passedOn]) => {
    expect(parseRequest('1', text).params).toBe(passedOn);
  });

  test('any JSON from JSON.stringify is accepted', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        if (!text.isWellFormed() || Object.keys(value).length === 0) return;
        expect(JSON.parse(parseRequest('1', text).params ?? '')).toEqual(JSON.parse(text));
      }),
    );
  });

  test('a number of a million digits is rejected in linear time, and its message is short', () => {
    expect(() => parseRequest('1', `{"a":1${'0'.repeat(1_000_000)}1}`)).toThrow(/^.{1,500}$/);
  });
});

test.for([
  [8_000, 'is sent'],
  [8_001, 'is rejected'],
] as const)('a URL of %i characters %s', async ([length, outcome]) => {
  const { queries } = record();
  const service = client({ retrieveBaseUrl: undefined });
  const around = `${renderBaseUrl}/snippets/1/render?params=${encodeURIComponent('{"text":""}')}`.length;
  const sent = service.get(1, { text: 'x'.repeat(length - around) });
  if (outcome === 'is sent') await sent;
  else {
    const message = `Snippet 1: its params make a URL of ${length} characters; the limit is 8000.`;
    await expect(sent).rejects.toMatchObject({ code: 'invalid-params', message });
  }
  expect(queries).toHaveLength(outcome === 'is sent' ? 1 : 0);
  await service.close();
});
