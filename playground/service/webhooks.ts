import pLimit from 'p-limit';
import pRetry, { AbortError } from 'p-retry';
import { Webhook } from 'standardwebhooks';
import type { Store } from './store/index.ts';
import type { Delivery, EventType } from './store/webhooks.ts';

export type WebhookSender = ReturnType<typeof createWebhookSender>;

export interface SenderOptions {
  /** The wait before the second attempt, in milliseconds; three times as long before each later one. @default 1,000 */
  firstWait?: number;
  /** How long an attempt may take, in milliseconds. @default 10,000 */
  timeout?: number;
}

const attempts = 5;
const attemptsAtOnce = 5;

/**
 * Sends signed webhooks, as Standard Webhooks describes them. This is a model of what the service could offer: the
 * specification has no events. A service that others use would have to refuse URLs of its own network; here, the
 * receiver is on the same machine.
 */
export function createWebhookSender(
  { webhooks }: Store,
  { firstWait = 1_000, timeout = 10_000 }: SenderOptions = {},
) {
  const closing = new AbortController();
  const { signal } = closing;
  const underWay = new Set<Promise<void>>();
  const limit = pLimit(attemptsAtOnce);

  /** Makes one attempt. @returns the status of the answer. @throws what to write down about it. */
  async function attempt({ organizationId, messageId, type, at, snippetId }: Delivery): Promise<string> {
    // Read for each attempt: the webhook may have been changed since.
    const endpoint = webhooks.endpoint(organizationId);
    if (endpoint === undefined) throw new AbortError('switched off');
    const message = JSON.stringify({ type, timestamp: at, data: { id: snippetId } });
    const { status, body } = await fetch(endpoint.url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'snippet-delivery-service',
        ...signedHeaders(endpoint.secret, messageId, message),
      },
      body: message,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    }).catch(({ name, cause }) => {
      throw new Error(name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? 'no connection'));
    });
    // Nothing of an answer is of interest, and it may have no end.
    await body?.cancel();
    if (status === 410) throw new AbortError('410');
    // Redirects among them: a redirect could lead to any host.
    if (status < 200 || status > 299) throw new Error(String(status));
    return String(status);
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const record = (state: Delivery['state'], answer: string) => webhooks.record(delivery.id, state, answer);
    try {
      const answer = await pRetry(() => limit(() => attempt(delivery)), {
        ...{ retries: attempts - 1, minTimeout: firstWait, factor: 3, randomize: true, signal },
        onFailedAttempt({ error, retriesLeft }) {
          if (retriesLeft > 0 && !signal.aborted) record('pending', error.message);
        },
      });
      record('delivered', answer);
    } catch (error) {
      if (!signal.aborted) record('failed', (error as Error).message);
    }
  }

  function begin(delivery: Delivery): void {
    const work = deliver(delivery).finally(() => underWay.delete(work));
    underWay.add(work);
  }

  /** Resolves when nothing is under way any more. */
  async function settled(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  for (const delivery of webhooks.pending()) begin(delivery);
  return {
    /** Tells an organization of a change, if it has a webhook. Does not wait. */
    send(organizationId: number, type: EventType, snippetId: number): void {
      if (webhooks.endpoint(organizationId) !== undefined)
        begin(webhooks.add(organizationId, type, snippetId));
    },
    settled,
    /** Ends what is under way. It is sent again when the service starts the next time. */
    async close(): Promise<void> {
      closing.abort();
      await settled();
    },
  };
}

/** What shows that a call comes from who knows the secret, and when. */
export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  // Of the attempt, not of the event.
  const at = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}
