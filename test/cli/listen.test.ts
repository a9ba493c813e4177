import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ListenOptions, listen, readWebhookSecret } from '../../src/cli/webhook-server.ts';
import { cleanText } from '../../src/text/clean-text.ts';
import { type SignedCall, signedCall, webhookSecret } from '../support/service/signed-call.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

const listening: AbortController[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const one of listening.splice(0)) one.abort();
  vi.useRealTimers();
});

const webhookOf = (secret: string) => readWebhookSecret({ SNIPPETS_WEBHOOK_SECRET: secret });

async function startListener(options: Partial<ListenOptions> = {}) {
  const logged: string[] = [];
  const calls = vi.fn();
  const controller = new AbortController();
  listening.push(controller);
  const url = await listen({
    address: { host: '127.0.0.1', port: 0 },
    webhook: webhookOf(webhookSecret),
    onCall: calls,
    log: (line) => logged.push(line),
    signal: controller.signal,
    ...options,
  });
  return { url, close: () => controller.abort(), port: Number(new URL(url).port), logged, calls };
}

const post = (url: string, { headers, body }: SignedCall) => fetch(url, { method: 'POST', headers, body });

/** A raw connection. */
function open(port: number) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.on('data', (data) => (received += data));
  // Writing after the server has closed the connection fails.
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

const another = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const unsigned: SignedCall = { headers: {}, body: '{}' };
const withoutId = signedCall();
delete withoutId.headers['webhook-id'];

// Signatures come from the reference implementation of Standard Webhooks.
test.each<[name: string, status: number, call: SignedCall, path?: string]>([
  ['is signed', 202, signedCall()],
  ['is from more than 5 minutes ago', 401, signedCall({ at: new Date(Date.now() - 310_000) })],
  ['was signed with another secret', 401, signedCall({ secret: another })],
  ['has another body than was signed', 401, { ...signedCall(), body: '{}' }],
  ['has no id', 401, withoutId],
  ['has no headers of a webhook', 401, unsigned],
  ['has a body of more than 64 KiB', 413, { ...signedCall(), body: 'x'.repeat(65_537) }],
  ['has a body of 64 KiB that was not signed', 401, { ...signedCall(), body: 'x'.repeat(65_536) }],
  ['is to another path', 404, signedCall(), '%3Cscript%3E'],
])('a call that %s is answered with %i and no text', async (_name, status, call, path = '') => {
  const { url, calls, logged } = await startListener();
  const response = await post(url + path, call);
  expect([response.status, await response.text()]).toEqual([status, '']);
  expect(response.headers.get('connection')).toBe('close');
  expect(calls).toHaveBeenCalledTimes(status === 202 ? 1 : 0);
  const line = status === 202 ? /^A signed call has arrived$/ : /^A call was refused: .+ \(4\d\d\)$/;
  expect(logged).toEqual([expect.stringMatching(line)]);
});

test('the answer to other methods names POST as the one that is allowed', async () => {
  const { url, calls } = await startListener();
  const response = await fetch(url);
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  expect(calls).not.toHaveBeenCalled();
});

test('the secret is kept out of all output', () => {
  webhookOf(webhookSecret);
  const [, encoded = ''] = webhookSecret.split('_');
  for (const secret of [webhookSecret, encoded]) expect(cleanText(`It is ${secret}`)).not.toContain(encoded);
});

test('a secret without the prefix of Standard Webhooks is used as it is', async () => {
  const secret = 'sixteen-letters!';
  const { url, calls } = await startListener({ webhook: webhookOf(secret) });
  const encoded = Buffer.from(secret).toString('base64');
  expect((await post(url, signedCall({ secret: encoded }))).status).toBe(202);
  expect(calls).toHaveBeenCalledTimes(1);
});

const useless = 'is not 16 ASCII characters without blanks, or whsec_ and 16 bytes in base64; or more';

test.each([
  ['', 'is not set'],
  ['sixteen letters with blanks', useless],
  ['fifteen-letters', useless],
  ['whsec_not base64 at all whatever it is', useless],
  ['whsec_not-base64-at-all-whatever-it-is', useless],
  ['whsec_AAAAAAAAAAAAAAAAAAAA', useless],
])('the secret %j is refused', (secret, reason) => {
  expect(() => webhookOf(secret)).toThrow(
    expect.objectContaining({
      name: 'astro-snippets/webhook-secret',
      message: `SNIPPETS_WEBHOOK_SECRET ${reason}.`,
    }),
  );
});

describe('a body', () => {
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
    // Includes what the kernel buffers for a connection.
    expect(socket.bytesWritten).toBeLessThan(30_000_000);
    expect(calls).not.toHaveBeenCalled();
  });

  test('is refused before it is sent if it is too long', async () => {
    const { port, calls } = await startListener();
    const { socket, received, closed } = open(port);
    socket.write(headOf(signedCall(), { 'content-length': '10000000000' }));
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(calls).not.toHaveBeenCalled();
  });
});

test('connections of slow clients are closed, whatever they have sent', async () => {
  // Much shorter than Node's default.
  const { port, calls, logged } = await startListener({ patience: 500 });
  const texts = [
    '',
    'POST / HTTP/1.1\r\nhost: localhost\r\nwebhook-',
    `${headOf(signedCall(), { 'content-length': '100' })}{`,
  ];
  const silent = texts.map((text) => ({ text, ...open(port) }));
  for (const { socket, text } of silent) socket.write(text);
  const steady = open(port);
  steady.socket.write(headOf(signedCall(), { 'content-length': '60000' }));
  const trickle = setInterval(() => steady.socket.write('x'), 20);
  await Promise.all([steady, ...silent].map(({ closed }) => closed));
  clearInterval(trickle);
  for (const { received, text } of silent) expect(received(), text).toMatch(/^HTTP\/1\.1 408 /);
  expect(calls).not.toHaveBeenCalled();
  expect(logged.at(-1)).toMatch(/^A call was refused: it was cut off, or not complete in time \(408\)$/);
});

test('fifty idle connections keep others out only until they are closed', async () => {
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

describe('a flood of calls', () => {
  const many = 100;
  const limit = pLimit(20);
  const again = signedCall();

  test.each<[name: string, status: number, call: () => SignedCall]>([
    ['that are the same, and signed', 202, () => again],
    ['that are not signed', 401, () => unsigned],
  ])('%s is answered with %i, and logged once a minute', async (_name, status, call) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const { url, calls, logged } = await startListener();
    const flood = Array.from({ length: many }, () => limit(() => post(url, call())));
    const statuses = (await Promise.all(flood)).map((response) => response.status);
    expect(new Set(statuses)).toEqual(new Set([status]));
    expect(calls).toHaveBeenCalledTimes(status === 202 ? many : 0);
    expect(logged).toHaveLength(1);
    vi.setSystemTime(Date.now() + 60_000);
    expect((await post(url, call())).status).toBe(status);
    expect(logged.slice(1)).toEqual([`${logged[0]} × ${many}`]);
  });
});

test('closing ends connections whose calls are incomplete', async () => {
  const { port, close } = await startListener();
  const { socket, closed } = open(port);
  await once(socket, 'connect');
  socket.write(headOf(signedCall(), { 'content-length': '100' }));
  await sleep(50);
  close();
  close();
  await closed;
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test('listening at a port that is in use is an error that names it', async () => {
  const { port } = await startListener();
  await expect(startListener({ address: { host: '127.0.0.1', port } })).rejects.toMatchObject({
    name: 'astro-snippets/cannot-listen',
    message: `Could not listen at 127.0.0.1:${port}: EADDRINUSE.`,
  });
});

test('listening where other machines can connect is a warning', async () => {
  const { logged } = await startListener({ address: { host: '0.0.0.0', port: 0 } });
  expect(logged).toEqual([
    'Other machines can reach this port, without encryption. Put a proxy with TLS in front of it.',
  ]);
});

test.each(['[::1]:0', 'localhost:0', '127.0.0.1:0'])('--listen %s is a host and a port', async (address) => {
  const { output } = await cli('.', ['watch', '--listen', address]);
  expect(output).toContain('SNIPPETS_WEBHOOK_SECRET is not set');
});

test.each(
  '8787 :8787 127.0.0.1:65536 127.0.0:8787 ::1:8787 [127.0.0.1]:8787 http://127.0.0.1:8787'.split(' '),
)('--listen %s is wrong usage', async (address) => {
  const said = await exits(2, cli('.', ['watch', '--listen', address]));
  expect(said).toContain('Expected a host and a port, such as 127.0.0.1:8787 or [::1]:8787.');
});
