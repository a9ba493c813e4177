import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { isLoopback, parseListenAddress } from '../../src/cli/listen-address.ts';
import {
  type CallHead,
  judgeBody,
  judgeHead,
  longestBody,
  mostPerSecond,
  type Refusal,
  rememberIds,
  signingKey,
} from '../../src/cli/webhook-policy.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const seconds = now / 1000;
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const key = signingKey(secret) as Buffer;
const body = '{"type":"snippet.published","timestamp":"2026-01-01T12:00:00Z","data":{"id":42}}';

/** Signed by the reference implementation of Standard Webhooks. */
function call(
  headers: Record<string, string | string[] | undefined> = {},
  { method = 'POST', path = '/', id = 'msg_1', at = now } = {},
): CallHead {
  return {
    method,
    path,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
      'content-length': String(body.length),
      ...headers,
    },
  };
}

describe('before its body is read', () => {
  const head = (...parameters: Parameters<typeof call>) => call(...parameters);
  test.each<[name: string, CallHead, expected: Refusal | undefined, readThisSecond?: number]>([
    ['a signed call is not refused', head(), undefined],
    ['a call to another path', head({}, { path: '/other' }), 'other-path'],
    ['a call with a query', head({}, { path: '/?a' }), 'other-path'],
    ['a GET', head({}, { method: 'GET' }), 'other-method'],
    ['a GET of another path', head({}, { method: 'GET', path: '/a' }), 'other-path'],
    ['a call without an id', head({ 'webhook-id': undefined }), 'unsigned'],
    ['a call with an empty id', head({ 'webhook-id': '' }), 'unsigned'],
    ['a call with two ids', head({ 'webhook-id': 'a, b' }), 'unsigned'],
    ['an id with a full stop', head({ 'webhook-id': 'a.1' }), 'unsigned'],
    ['an id with a letter that is not ASCII', head({ 'webhook-id': 'é' }), 'unsigned'],
    ['an id of 257 characters', head({ 'webhook-id': 'x'.repeat(257) }), 'unsigned'],
    ['an id of 256 characters is not refused', head({ 'webhook-id': 'x'.repeat(256) }), undefined],
    ['a call without a timestamp', head({ 'webhook-timestamp': undefined }), 'unsigned'],
    ['a timestamp with a fraction', head({ 'webhook-timestamp': `${seconds}.5` }), 'unsigned'],
    ['a timestamp in milliseconds', head({ 'webhook-timestamp': `${now}` }), 'unsigned'],
    ['a negative timestamp', head({ 'webhook-timestamp': `-${seconds}` }), 'unsigned'],
    ['a timestamp that is a date', head({ 'webhook-timestamp': '2026-01-01' }), 'unsigned'],
    ['a call without a signature', head({ 'webhook-signature': undefined }), 'unsigned'],
    ['a call from 5 minutes ago is not refused', head({}, { at: now - 300_000 }), undefined],
    ['a call from 5 minutes ahead is not refused', head({}, { at: now + 300_000 }), undefined],
    ['a call from more than 5 minutes ago', head({}, { at: now - 301_000 }), 'other-time'],
    ['a call from more than 5 minutes ahead', head({}, { at: now + 301_000 }), 'other-time'],
    ['a body of 64 KiB is not refused', head({ 'content-length': `${longestBody}` }), undefined],
    ['a body of more than 64 KiB', head({ 'content-length': `${longestBody + 1}` }), 'too-long'],
    ['a body of unknown length is not refused', head({ 'content-length': undefined }), undefined],
    ['the last call of a second is not refused', head(), undefined, mostPerSecond - 1],
    ['one call more in a second', head(), 'too-many', mostPerSecond],
  ])('%s', (_name, one, expected, readThisSecond = 0) => {
    expect(judgeHead(one, { now, readThisSecond })).toBe(expected);
  });
});

describe('once its body is read', () => {
  const other = new Webhook(`whsec_${randomBytes(32).toString('base64')}`).sign('msg_1', new Date(now), body);
  const right = String(call().headers['webhook-signature']);
  const signed = (signature: string) => call({ 'webhook-signature': signature });
  test.each<[name: string, CallHead, body: string, expected: Refusal | undefined]>([
    ['a call with the right signature is accepted', call(), body, undefined],
    ['one of several signatures is enough', signed(`${other} v1a,AAAA ${right}`), body, undefined],
    ['a call that was signed with another secret', signed(other), body, 'wrong-signature'],
    ['an empty signature', signed(''), body, 'wrong-signature'],
    ['a signature without its version', signed(right.slice(3)), body, 'wrong-signature'],
    ['a signature of another version', signed(right.replace('v1', 'v2')), body, 'wrong-signature'],
    ['a signature that was cut', signed(right.slice(0, -2)), body, 'wrong-signature'],
    ['a signature behind ten others', signed(`${`${other} `.repeat(10)}${right}`), body, 'wrong-signature'],
    ['a body that was changed', call(), `${body} `, 'wrong-signature'],
    ['an id that was changed', call({ 'webhook-id': 'msg_2' }), body, 'wrong-signature'],
    [
      'a timestamp that was changed',
      call({ 'webhook-timestamp': `${seconds + 1}` }),
      body,
      'wrong-signature',
    ],
    ['an id of an earlier call', call({}, { id: 'known' }), body, 'repeated'],
    [
      'an id of an earlier call, not signed',
      call({ 'webhook-id': 'known' }, { id: 'other' }),
      body,
      'wrong-signature',
    ],
  ])('%s', (_name, one, text, expected) => {
    expect(judgeBody(one, Buffer.from(text), key, (id) => id === 'known')).toBe(expected);
  });

  test('a body that is not UTF-8 is compared byte by byte', () => {
    const bytes = Buffer.from([0xff, 0x00, 0xc3]);
    const digest = createHmac('sha256', key).update(`msg_1.${seconds}.`).update(bytes).digest('base64');
    const isKnown = () => false;
    expect(judgeBody(signed(`v1,${digest}`), bytes, key, isKnown)).toBeUndefined();
    const other = Buffer.from([0xfe, 0x00, 0xc3]);
    expect(judgeBody(signed(`v1,${digest}`), other, key, isKnown)).toBe('wrong-signature');
  });
});

test.each([
  [undefined, 'is not set'],
  ['', 'is not set'],
  ['fifteen letters', 'contains white space, a control character or a non-ASCII character'],
  ['fifteen-letters', 'has fewer than 16 characters'],
  ['whsec_not base64 at all', 'contains white space, a control character or a non-ASCII character'],
  ['whsec_not-base64-at-all', 'has something else than base64 after whsec_'],
  ['whsec_AAAAAAAAAAAAAAAAAAAA', 'has fewer than 16 bytes after whsec_'],
  ['sixteen-letters!', Buffer.from('sixteen-letters!')],
  ['whsec_AAAAAAAAAAAAAAAAAAAAAA==', Buffer.alloc(16)],
])('the secret %j is a key, or has a reason why not', (text, expected) => {
  expect(signingKey(text)).toEqual(expected);
});

test.each([
  ['127.0.0.1:8787', { host: '127.0.0.1', port: 8787 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:8787', { host: '::1', port: 8787 }],
  ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
  ['8787', undefined],
  [':8787', undefined],
  ['127.0.0.1', undefined],
  ['127.0.0.1:', undefined],
  ['127.0.0.1:65536', undefined],
  ['127.0.0.1:-1', undefined],
  ['127.0.0:8787', undefined],
  ['::1:8787', undefined],
  ['[127.0.0.1]:8787', undefined],
  ['http://127.0.0.1:8787', undefined],
  ['127.0.0.1:8787/', undefined],
  ['', undefined],
])('--listen %s is read as %j', (text, expected) => {
  expect(parseListenAddress(text)).toEqual(expected);
});

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.1.2', false],
])('%s is reached from this machine alone: %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});

test('an id is remembered for ten minutes, and forgotten after twenty', () => {
  let time = 0;
  const ids = rememberIds(() => time);
  time = 599_000;
  ids.add('a');
  expect([ids.has('a'), ids.has('b')]).toEqual([true, false]);
  time += 600_000;
  expect(ids.has('a')).toBe(true);
  ids.add('b');
  time += 600_000;
  expect([ids.has('a'), ids.has('b')]).toEqual([false, true]);
  ids.add('c');
  time += 1_200_000;
  expect([ids.has('b'), ids.has('c')]).toEqual([false, false]);
});
