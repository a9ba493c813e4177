import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { steppedClock } from '../support/service/clock.ts';
import { type SignedCall, signedCall, webhookSecret } from '../support/service/signed-call.ts';
import { copyOfEverything, type Everything } from '../support/site/everything.ts';
import { type RunningCli, startWatch } from '../support/tools/cli.ts';

let site: Everything;

beforeEach(async () => {
  site = await copyOfEverything();
});

const deployed = () => readFile(join(site.directory, 'deployed'), 'utf8').catch(() => '');
const shown = (page: string) => expect.poll(() => site.read(page));

/** Starts a watch that checks again only when it is called, and waits for its first check. */
async function startListening(arguments_: readonly string[] = []): Promise<{ url: string } & RunningCli> {
  const environment = { ...site.service.environment, SNIPPETS_WEBHOOK_SECRET: webhookSecret };
  const clock = steppedClock();
  const command = ['watch', '--listen', '127.0.0.1:0', ...arguments_];
  const watching = startWatch(site.directory, command, environment, { clock });
  await clock.waiting();
  const [, url = ''] = /Listening for signed calls at (\S+)\n/.exec(watching.output()) ?? [];
  return { ...watching, url };
}

const post = (url: string, { headers, body }: SignedCall) => fetch(url, { method: 'POST', headers, body });

test('a signed call brings what was published to the site at once, and runs the deploy command', async () => {
  const { url } = await startListening(['--exec', `node -e "fs.appendFileSync('deployed', 'x')"`]);
  for (const text of ['second', 'third']) {
    site.service.put(1, text);
    expect((await post(url, signedCall())).status).toBe(202);
    await shown('index.html').toContain(`<p>${text}</p>`);
  }
  await expect.poll(deployed).toBe('xx');
});

test('calls that arrive during a check lead to one check after it', async () => {
  const { service } = site;
  const { url } = await startListening();
  const perCheck = service.requests().length;
  const held = service.hold();
  await post(url, signedCall());
  await held.asked();
  const again = signedCall();
  for (let call = 0; call < 5; call++) expect((await post(url, again)).status).toBe(202);
  service.put(1, 'published meanwhile');
  held.release();
  await shown('index.html').toContain('published meanwhile');
  await expect.poll(() => service.requests().length).toBe(3 * perCheck);
});

// Windows has no SIGTERM: the process is killed.
test.skipIf(process.platform === 'win32')(
  'on SIGTERM it stops listening while its deploy command ends',
  async () => {
    await site.write({
      'finish.mjs': `import { appendFileSync, existsSync } from 'node:fs';
process.on('SIGTERM', () => {});
appendFileSync('deployed', 'begin ');
setInterval(() => {
  if (!existsSync('finish')) return;
  appendFileSync('deployed', 'end');
  process.exit();
}, 50);`,
    });
    const watching = await startListening(['--exec', 'exec node finish.mjs']);
    site.service.put(1, 'deployed to the end');
    await post(watching.url, signedCall());
    await expect.poll(deployed).toBe('begin ');
    watching.kill('SIGTERM');
    await expect.poll(() => fetch(watching.url).catch(() => 'refused')).toBe('refused');
    expect(await deployed()).toBe('begin ');
    await site.write({ finish: '' });
    expect((await watching.ended).exitCode).toBe(143);
    expect(await deployed()).toBe('begin end');
  },
);
