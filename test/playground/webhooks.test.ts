import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../playground/service/index.ts';
import { type LocalServer, startLocalServer } from '../support/http/local-server.ts';
import { signIn } from '../support/service/website.ts';
import { folderWith } from '../support/site/folder.ts';

interface Message {
  headers: IncomingHttpHeaders;
  body: string;
}

const path = '/account/webhook';
let service: Service;
let organization: number;
let read: Awaited<ReturnType<typeof signIn>>['read'];
let send: Awaited<ReturnType<typeof signIn>>['send'];
let receiver: LocalServer;
let url: string;
const messages: Message[] = [];
/** The receiver's answers in turn, then 202. `null` is no answer. */
const answers: (number | null)[] = [];

beforeEach(async () => {
  messages.length = 0;
  answers.length = 0;
  receiver = await startLocalServer(async (request, response) => {
    messages.push({ headers: request.headers, body: await text(request) });
    const answer = answers.shift();
    if (answer !== null) response.writeHead(answer ?? 202, { location: url }).end('not of interest');
  });
  url = `${receiver.url}/`;
  await start();
});
afterEach(async () => {
  await service.close();
  await receiver.close();
});

async function start(database?: string): Promise<void> {
  service = await startService({ webhooks: { firstWait: 1, timeout: 1_000 }, ...(database && { database }) });
  organization = service.store.organizations.list()[0]?.id ?? 0;
  ({ read, send } = await signIn(service, organization));
}

const publish = (id = 42) =>
  send(`/snippets/${id}`, { name: 'N', draft: '<b>new</b>', sample: '{}', action: 'publish' });

const secretIn = (page: string) => /whsec_[\w+/]+=*/.exec(page)?.[0] ?? '';

/** Switches the webhook on in the website. */
async function switchOn(): Promise<string> {
  const answer = await send(path, { url });
  expect(answer.status).toBe(200);
  return secretIn(await answer.text());
}

const deliveries = () => service.store.webhooks.list(organization, 10);

describe('a webhook of the service', () => {
  test('reports every change of what is served, signed as in Standard Webhooks', async () => {
    const secret = await switchOn();
    await publish();
    await send('/snippets/42/versions/1/roll-back', { confirm: 'yes' });
    await send('/snippets/42/unpublish', { confirm: 'yes' });
    await publish(43);
    await send('/snippets/43/delete', { confirm: 'yes' });
    // These do not change what is served.
    await send('/snippets/44', { name: 'N', draft: 'draft', sample: '{}', action: 'save' });
    await send('/snippets/44/unpublish');
    await service.webhooks.settled();
    const received = messages.map(({ headers, body }) => {
      const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
      const { type, timestamp, data, ...more } = verified as Record<string, unknown>;
      expect([Date.parse(String(timestamp)) > 0, more]).toEqual([true, {}]);
      return `${type} ${JSON.stringify(data)}`;
    });
    expect(received.sort()).toEqual([
      'snippet.deleted {"id":43}',
      'snippet.published {"id":42}',
      'snippet.published {"id":42}',
      'snippet.published {"id":43}',
      'snippet.unpublished {"id":42}',
    ]);
    expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(5);
    expect(deliveries()[0]).toMatchObject({ state: 'delivered', attempts: 1, answer: '202' });
  });

  test('is sent again with the same id and a new signature until it is accepted', async () => {
    const secret = await switchOn();
    answers.push(500, 503, 302);
    await publish();
    await service.webhooks.settled();
    expect(messages).toHaveLength(4);
    expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { headers, body } of messages) {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }
    expect(deliveries()).toMatchObject([{ state: 'delivered', attempts: 4, answer: '202' }]);
  });

  test.each([
    ['an error or a redirect, which is not followed', [500, 500, 500, 500, 302], '302'],
    ['no answer', [500, 500, 500, 500, null], 'no answer in time'],
  ])('has failed after five attempts with %s', async (_name, five, answer) => {
    await switchOn();
    answers.push(...five);
    await publish();
    await service.webhooks.settled();
    expect(messages).toHaveLength(5);
    expect(deliveries()).toMatchObject([{ state: 'failed', attempts: 5, answer }]);
  });

  test('is not sent before it is switched on, after 410, or after it was switched off', async () => {
    await publish();
    await switchOn();
    answers.push(410);
    await publish();
    await service.webhooks.settled();
    expect(messages).toHaveLength(1);
    expect(deliveries()).toMatchObject([{ state: 'failed', answer: '410' }]);
    await send(`${path}/off`);
    await publish();
    await service.webhooks.settled();
    expect(messages).toHaveLength(1);
  });

  test('that was not delivered when the service ended is sent when it starts again', async () => {
    const { directory } = await folderWith({});
    await service.close();
    await start(join(directory, 'service.sqlite'));
    await switchOn();
    answers.push(null);
    await publish();
    await expect.poll(() => messages).toHaveLength(1);
    await service.close();
    await start(join(directory, 'service.sqlite'));
    await service.webhooks.settled();
    expect(messages).toHaveLength(2);
    expect(messages[1]?.headers['webhook-id']).toBe(messages[0]?.headers['webhook-id']);
    expect(deliveries()).toMatchObject([{ state: 'delivered', answer: '202' }]);
  });
});

describe('the page of the webhook', () => {
  test('shows the secret once, and a new one when it is replaced', async () => {
    const first = await switchOn();
    expect(first).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(await read(path)).not.toContain('whsec_');
    expect((await send(path, { url: `${url}other` })).status).toBe(303);
    expect(service.store.webhooks.endpoint(organization)).toEqual({ url: `${url}other`, secret: first });
    const second = secretIn(await (await send(`${path}/secret`)).text());
    expect(second).not.toBe(first);
    expect(service.store.webhooks.endpoint(organization)?.secret).toBe(second);
  });

  test.each([
    ['markup', '"><script>', 'This is not a URL.'],
    ['a script', 'javascript:alert(1)', 'The URL has to begin with https: or http:.'],
  ])('refuses %s, says why, and keeps what was typed', async (_name, typed, flaw) => {
    const answer = await send(path, { url: typed });
    const page = await answer.text();
    expect(answer.status).toBe(422);
    expect(page).toContain(`Nothing was changed. ${flaw}`);
    expect(page).toContain(
      `value="${typed.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}"`,
    );
    expect(service.store.webhooks.endpoint(organization)).toBeUndefined();
  });
});
