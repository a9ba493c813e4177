import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  callableClock,
  type Listener,
  type ListenOptions,
  listen,
  summarized,
} from '../../src/cli/listen.ts';
import { mostPerSecond, signingKey } from '../../src/cli/webhook-policy.ts';
import { systemClock } from '../../src/client/clock.ts';
import { codeBelow } from '../support/docs.ts';
import { cleanEnvironment } from '../support/environment.ts';
import { type SignedCall, signedCall, webhookSecret } from '../support/signed-call.ts';

const listeners: Listener[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const { close } of listeners.splice(0)) close();
});

async function startListener(options: Partial<ListenOptions> = {}) {
  const logged: string[] = [];
  const calls = vi.fn();
  const listener = await listen({
    address: { host: '127.0.0.1', port: 0 },
    key: signingKey(webhookSecret) as Buffer,
    onCall: calls,
    log: (line) => logged.push(line),
    ...options,
  });
  listeners.push(listener);
  return { ...listener, port: Number(new URL(listener.url).port), logged, calls };
}

const post = (url: string, { headers, body }: SignedCall) => fetch(url, { method: 'POST', headers, body });

/** A connection without a client in between. */
function open(port: number) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.on('data', (data) => (received += data));
  // What is written after the server has closed the connection.
  socket.on('error', () => {});
  return {
    socket,
    received: () => received,
    closed: new Promise((resolve) => socket.once('close', resolve)),
  };
}

function headOf({ headers }: SignedCall, more: Record<string, string>): string {
  const lines = Object.entries({ host: 'localhost', ...headers, ...more });
  return `POST / HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

describe('a call', () => {
  test('that is signed is accepted with 202 and no text, and logged with its id', async () => {
    const { url, calls, logged } = await startListener();
    const response = await post(url, signedCall({ id: 'msg_42' }));
    expect([response.status, await response.text()]).toEqual([202, '']);
    expect(response.headers.get('connection')).toBe('close');
    expect(calls).toHaveBeenCalledTimes(1);
    expect(logged).toEqual([`Listening for signed calls at ${url}`, 'A signed call has arrived: msg_42']);
  });

  test('is accepted if its body arrives in pieces, without its length', async () => {
    const { port, calls } = await startListener();
    const call = signedCall();
    const { socket, received } = open(port);
    socket.write(headOf(call, { 'transfer-encoding': 'chunked' }));
    for (const part of [call.body.slice(0, 10), call.body.slice(10)]) {
      socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
      await sleep(20);
    }
    socket.write('0\r\n\r\n');
    await vi.waitFor(() => expect(received()).toContain('HTTP/1.1 202 Accepted'), 60_000);
    expect(calls).toHaveBeenCalledTimes(1);
  });

  test('that is repeated is answered alike, and called only once', async () => {
    const { url, calls, logged } = await startListener();
    const call = signedCall();
    for (const again of [call, call, signedCall({ id: call.headers['webhook-id'] ?? '' })]) {
      expect((await post(url, again)).status).toBe(202);
    }
    expect(calls).toHaveBeenCalledTimes(1);
    expect(logged.slice(2)).toEqual(['Calls ignored: the id of an earlier call (202)']);
  });

  test('that is refused is answered with its status and nothing else', async () => {
    const { url, calls, logged } = await startListener();
    const call = signedCall();
    const wrong = signedCall({ secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' });
    const old = { ...call, headers: { ...call.headers, 'webhook-timestamp': '1' } };
    const responses = [
      await post(url, { ...call, headers: {} }),
      await post(url, wrong),
      await post(url, old),
      await fetch(url),
      await fetch(`${url}%3Cscript%3E`),
      await post(url, { ...call, body: 'x'.repeat(65_537) }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 405, 404, 413]);
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(Array(6).fill(''));
    expect(responses[3]?.headers.get('allow')).toBe('POST');
    expect(calls).not.toHaveBeenCalled();
    // The others are counted until the minute is over.
    expect(logged.slice(1)).toEqual(['Calls refused: no signature (401)']);
  });
});

// The shell of the example is one that Windows does not have.
test.skipIf(process.platform === 'win32')(
  'the example for a sender in the docs is accepted, as often as it is run',
  async () => {
    const [example = ''] = codeBelow('What the sender has to do', 'sh', 'docs/push.md');
    expect(example).toContain('openssl dgst');
    const { url, calls, logged } = await startListener();
    const environment = { ...cleanEnvironment(), WEBHOOK_URL: url, SNIPPETS_WEBHOOK_SECRET: webhookSecret };
    for (const _ of [1, 2]) {
      const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', example], { env: environment });
      expect([stdout, stderr]).toEqual(['', '']);
    }
    expect(calls).toHaveBeenCalledTimes(2);
    expect(logged.slice(1)).toEqual(
      Array(2).fill(expect.stringContaining('A signed call has arrived: msg_')),
    );
    const wrong = { ...environment, SNIPPETS_WEBHOOK_SECRET: `whsec_${'A'.repeat(32)}` };
    await expect(promisify(execFile)('sh', ['-euc', example], { env: wrong })).rejects.toThrow('401');
  },
);

describe('a body', () => {
  test('that says to be too long is answered before it is sent', async () => {
    const { port } = await startListener();
    const { socket, received, closed } = open(port);
    socket.write(headOf(signedCall(), { 'content-length': '10000000000' }));
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('that turns out to be too long is answered with 413', async () => {
    const { port } = await startListener();
    const { socket, received, closed } = open(port);
    socket.write(headOf(signedCall(), { 'transfer-encoding': 'chunked' }));
    socket.write(`${(70_000).toString(16)}\r\n${'x'.repeat(70_000)}\r\n`);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('that does not end is not read to its end', async () => {
    const { port, calls } = await startListener();
    const { socket, closed } = open(port);
    socket.write(headOf(signedCall(), { 'transfer-encoding': 'chunked' }));
    const chunk = `${(1_000_000).toString(16)}\r\n${'x'.repeat(1_000_000)}\r\n`;
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
    await closed;
    // What the kernel keeps for a connection counts too.
    expect(socket.bytesWritten).toBeLessThan(30_000_000);
    expect(calls).not.toHaveBeenCalled();
  });

  test('is asked for where the client asks first, unless it would be refused', async () => {
    const { port, calls } = await startListener();
    const call = signedCall();
    const polite = { expect: '100-continue' };
    const first = open(port);
    first.socket.write(headOf(call, { ...polite, 'content-length': String(call.body.length) }));
    await vi.waitFor(() => expect(first.received()).toContain('100 Continue'), 60_000);
    first.socket.write(call.body);
    await first.closed;
    expect(first.received()).toContain('HTTP/1.1 202 Accepted');

    const second = open(port);
    second.socket.write(headOf(signedCall(), { ...polite, 'content-length': '100000' }));
    await second.closed;
    expect(second.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(calls).toHaveBeenCalledTimes(1);
  });
});

// In much less time than Node takes by default.
describe('a slow client is ended', { timeout: 45_000 }, () => {
  const patience = 500;

  test.each([
    ['that sends nothing', () => ''],
    ['that does not finish its headers', () => 'POST / HTTP/1.1\r\nhost: localhost\r\nwebhook-'],
    ['that does not finish its body', (call: SignedCall) => `${headOf(call, { 'content-length': '100' })}{`],
  ])('%s', async (_name, text) => {
    const { port, calls } = await startListener({ patience });
    const { socket, closed, received } = open(port);
    socket.write(text(signedCall()));
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(calls).not.toHaveBeenCalled();
  });

  test('that sends its body byte by byte', async () => {
    const { port, calls, logged } = await startListener({ patience });
    const { socket, closed } = open(port);
    socket.write(headOf(signedCall(), { 'content-length': '60000' }));
    const trickle = setInterval(() => socket.write('x'), 20);
    await closed;
    clearInterval(trickle);
    expect(calls).not.toHaveBeenCalled();
    expect(logged.at(-1)).toBe('Calls refused: cut off, or not complete in time');
  });
});

test('fifty idle connections keep others out only until they are ended', async () => {
  const { url, port, calls } = await startListener({ patience: 1_000 });
  const idle = Array.from({ length: 50 }, () => open(port));
  await Promise.all(idle.map(({ socket }) => once(socket, 'connect')));
  const one = open(port);
  await one.closed;
  expect(one.received()).toBe('');
  await Promise.all(idle.map(({ closed }) => closed));
  expect((await post(url, signedCall())).status).toBe(202);
  expect(calls).toHaveBeenCalledTimes(1);
});

describe('a flood of 1,000 calls', () => {
  const limit = pLimit(20);
  const flood = (url: string, call: () => SignedCall) =>
    Promise.all(Array.from({ length: 1_000 }, () => limit(() => post(url, call()))));

  test('without a signature is refused, and logged in one line', async () => {
    const { url, calls, logged } = await startListener();
    const responses = await flood(url, () => ({ headers: {}, body: '{}' }));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]));
    expect(calls).not.toHaveBeenCalled();
    expect(logged).toHaveLength(2);
  });

  test.each([
    ['that are signed', signedCall, 202],
    [
      'that are signed with another secret',
      () => signedCall({ secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }),
      401,
    ],
  ])('%s is slowed down to 50 in a second', async (_name, call, status) => {
    const { url, calls } = await startListener();
    const start = Math.floor(Date.now() / 1000);
    const responses = await flood(url, call);
    const seconds = Math.floor(Date.now() / 1000) - start + 1;
    const [first] = responses.filter((response) => response.status === 429);
    expect(first?.headers.get('retry-after')).toBe('1');
    expect(new Set(responses.map((response) => response.status))).toEqual(new Set([status, 429]));
    const read = responses.filter((response) => response.status === status).length;
    expect(read).toBeLessThanOrEqual(mostPerSecond * seconds);
    expect(calls).toHaveBeenCalledTimes(status === 202 ? read : 0);
    await vi.waitFor(async () => expect((await post(url, signedCall())).status).toBe(202), 60_000);
  });
});

test('what is no HTTP is answered with 400, and the next call is accepted', async () => {
  const { url, port } = await startListener();
  const { socket, received, closed } = open(port);
  socket.write('\u0016\u0003\u0001\u0002\r\n\r\n');
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 400 /);
  expect((await post(url, signedCall())).status).toBe(202);
});

test('closing ends connections with calls that have not arrived yet', async () => {
  const { port, close, logged } = await startListener();
  const { socket, closed } = open(port);
  await once(socket, 'connect');
  socket.write(headOf(signedCall(), { 'content-length': '100' }));
  await sleep(50);
  close();
  close();
  await closed;
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  expect(logged).toHaveLength(1);
});

describe('listening', () => {
  test('at a port that is in use is an error that names it', async () => {
    const { port } = await startListener();
    await expect(startListener({ address: { host: '127.0.0.1', port } })).rejects.toMatchObject({
      name: 'astro-snippets/cannot-listen',
      message: `Could not listen at 127.0.0.1:${port}: EADDRINUSE.`,
    });
  });

  test.each(['192.0.2.1', 'no-such-host.invalid'])('at the foreign host %s is an error', async (host) => {
    await expect(startListener({ address: { host, port: 0 } })).rejects.toMatchObject({
      message: expect.stringMatching(`^Could not listen at ${host}:0: E[A-Z_]+\\.$`),
    });
  });

  test.each(['0.0.0.0', '127.0.0.1'])('at %s warns if other machines can reach it', async (host) => {
    const { logged } = await startListener({ address: { host, port: 0 } });
    expect(logged.slice(1)).toEqual(
      host === '0.0.0.0'
        ? ['Other machines can reach this port, without encryption. Put a proxy with TLS in front of it.']
        : [],
    );
  });
});

test('refused calls are logged at once for the first, and then once a minute with their number', () => {
  vi.useFakeTimers();
  try {
    const logged: string[] = [];
    const { add, close } = summarized('Calls refused', (line) => logged.push(line));
    add('no signature (401)');
    expect(logged).toEqual(['Calls refused: no signature (401)']);
    for (let call = 0; call < 1_000; call++) add('no signature (401)');
    add('wrong signature (401)');
    vi.advanceTimersByTime(59_999);
    expect(logged).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(logged.slice(1)).toEqual(['Calls refused: no signature (401) × 1000; wrong signature (401)']);
    vi.advanceTimersByTime(600_000);
    expect(logged).toHaveLength(2);
    add('wrong signature (401)');
    expect(logged.slice(2)).toEqual(['Calls refused: wrong signature (401)']);
    add('wrong signature (401)');
    close();
    vi.advanceTimersByTime(60_000);
    add('wrong signature (401)');
    expect(logged).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});

describe('a clock that can be called', () => {
  test('ends the wait that is under way', async () => {
    const { clock, call } = callableClock(systemClock);
    const waited = clock.wait(1_000_000);
    call();
    await waited;
  });

  test('ends the next wait, once, after calls while nothing waits', async () => {
    const { clock, call } = callableClock(systemClock);
    for (let count = 0; count < 3; count++) call();
    await clock.wait(1_000_000);
    const controller = new AbortController();
    const second = clock.wait(1_000_000, controller.signal);
    controller.abort(new Error('still waiting'));
    await expect(second).rejects.toThrow('still waiting');
  });

  test('rejects as ever when the signal of the wait is aborted, also after a call', async () => {
    const { clock, call } = callableClock(systemClock);
    call();
    await expect(clock.wait(1_000_000, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});
