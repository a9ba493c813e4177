import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type RunningCommand, startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type SignedCall, signedCall, webhookSecret } from '../support/signed-call.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;
let watching: RunningCommand;

beforeAll(async () => {
  service = await startTestService({ 1: 'first' });
  site = await createSite({
    'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
    'deploy.mjs': `import { appendFileSync } from 'node:fs';\nappendFileSync('deployed', 'x');\n`,
    'finish.mjs': `import { appendFileSync, existsSync } from 'node:fs';
process.on('SIGTERM', () => {});
appendFileSync('deployed', 'begin ');
setInterval(() => {
  if (!existsSync('finish')) return;
  appendFileSync('deployed', 'end');
  process.exit();
}, 50);
`,
  });
  expect((await site.build(service.environment)).exitCode).toBe(0);
});
beforeEach(() => rm(join(site.directory, 'deployed'), { force: true }));
afterEach(async () => {
  service.clearFaults();
  // A deploy command that is left behind keeps the output of the watch open.
  await site.write({ finish: '' });
  watching.process.kill('SIGKILL');
  await watching.ended;
  await rm(join(site.directory, 'finish'));
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

const deployed = () => readFile(join(site.directory, 'deployed'), 'utf8').catch(() => '');

function start(arguments_: string[], secret: string | undefined = webhookSecret): RunningCommand {
  watching = startCommand(site.directory, ['watch', ...arguments_], {
    ...service.environment,
    ...(secret === '' ? {} : { SNIPPETS_WEBHOOK_SECRET: secret }),
  });
  return watching;
}

/** Sends a form of the service's website, as someone who is signed in. */
async function signIn(): Promise<(path: string, fields: Record<string, string>) => Promise<Response>> {
  const answer = await fetch(service.loginLink(service.organizationId), { redirect: 'manual' });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (path, fields) =>
    fetch(service.websiteUrl + path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { cookie, origin: service.websiteUrl },
      redirect: 'manual',
    });
}

/** Starts a watch that would not ask again by itself, and waits for its first check. */
async function startListening(
  arguments_: string[] = [],
  secret?: string,
): Promise<{ url: string } & RunningCommand> {
  const before = service.requests().length;
  const command = start(['--listen', '127.0.0.1:0', '--every', '1h', ...arguments_], secret);
  const url = await vi.waitFor(
    () => {
      const [, found] = /Listening for signed calls at (\S+)\n/.exec(command.output()) ?? [];
      expect(service.requests().length).toBeGreaterThan(before);
      return found ?? '';
    },
    { timeout: 60_000 },
  );
  return { ...command, url };
}

const post = (url: string, { headers, body }: SignedCall) => fetch(url, { method: 'POST', headers, body });

test('a signed call brings what was published to the site at once, and runs the deploy command', async () => {
  const { url } = await startListening(['--exec', 'node deploy.mjs']);
  for (const text of ['second', 'third']) {
    service.put(1, text);
    expect((await post(url, signedCall())).status).toBe(202);
    await vi.waitFor(async () => expect(await site.read('index.html')).toContain(`<p>${text}</p>`), {
      timeout: 60_000,
    });
  }
  await vi.waitFor(async () => expect(await deployed()).toBe('xx'), { timeout: 60_000 });
});

test('publishing and unpublishing on the website of the service reach the site by its webhook', async () => {
  const send = await signIn();
  const page = await (await send('/account/webhook', { url: 'http://localhost:1/' })).text();
  const [secret = ''] = /whsec_[\w+/]+=*/.exec(page) ?? [];
  const { url, output } = await startListening([], secret);
  await send('/account/webhook', { url });
  try {
    const form = { name: 'One', draft: 'by its webhook', sample: '{}', action: 'publish' };
    await send('/snippets/1', form);
    await vi.waitFor(async () => expect(await site.read('index.html')).toContain('<p>by its webhook</p>'), {
      timeout: 60_000,
    });
    await send('/snippets/1/unpublish', { confirm: 'yes' });
    await vi.waitFor(() => expect(output()).toContain('404 Not Found'), { timeout: 60_000 });
    await service.webhooks.settled();
    expect(service.store.webhooks.list(service.organizationId, 10)).toMatchObject([
      { type: 'snippet.unpublished', state: 'delivered', answer: '202', attempts: 1 },
      { type: 'snippet.published', state: 'delivered', answer: '202', attempts: 1 },
    ]);
  } finally {
    await send('/account/webhook/off', {});
    service.put(1, 'published again');
  }
});

test('calls that arrive during a check are one check after it', async () => {
  const { url } = await startListening();
  const before = service.requests().length;
  const held = service.hold();
  await post(url, signedCall());
  await held.asked();
  const again = signedCall();
  for (let call = 0; call < 5; call++) expect((await post(url, again)).status).toBe(202);
  service.put(1, 'published meanwhile');
  held.release();
  await vi.waitFor(async () => expect(await site.read('index.html')).toContain('published meanwhile'), {
    timeout: 60_000,
  });
  await vi.waitFor(() => expect(service.requests().length).toBe(before + 2), { timeout: 60_000 });
});

// Windows has no SIGTERM: a process is ended without notice.
test.skipIf(process.platform === 'win32')(
  'on SIGTERM it listens no more while its deploy command comes to an end',
  async () => {
    const { url, process: child, ended } = await startListening(['--exec', 'exec node finish.mjs']);
    service.put(1, 'deployed to the end');
    await post(url, signedCall());
    await vi.waitFor(async () => expect(await deployed()).toBe('begin '), { timeout: 60_000 });
    child.kill('SIGTERM');
    await vi.waitFor(() => expect(fetch(url)).rejects.toThrow(), { timeout: 60_000 });
    expect(await deployed()).toBe('begin ');
    await site.write({ finish: '' });
    expect((await ended).exitCode).toBe(143);
    expect(await deployed()).toBe('begin end');
  },
);

test('with a secret that is too short it does not start, and exits with 1', async () => {
  const { exitCode, output } = await start(['--listen', '127.0.0.1:0'], 'much-too-short').ended;
  expect(exitCode).toBe(1);
  expect(output).toContain('SNIPPETS_WEBHOOK_SECRET has fewer than 16 characters. [webhook-secret]');
  expect(output).not.toContain('much-too-short');
  expect(output).not.toContain('Checking');
});

test('without a host, --listen is wrong usage', async () => {
  const { exitCode, output } = await start(['--listen', '8787']).ended;
  expect(exitCode).toBe(2);
  expect(output).toContain('Expected a host and a port, such as 127.0.0.1:8787 or [::1]:8787.');
});

test.each([
  [[], 'Checking every 30 s.'],
  [['--listen', '127.0.0.1:0'], 'Checking every 300 s.'],
  [['--listen', '127.0.0.1:0', '--every', '10s'], 'Checking every 10 s.'],
])('with %j it says %s', async (arguments_, expected) => {
  const { output } = start(arguments_);
  await vi.waitFor(() => expect(output()).toContain(expected), { timeout: 60_000 });
});
