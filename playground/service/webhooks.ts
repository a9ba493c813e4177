import pLimit from 'p-limit';
import pRetry, { AbortError } from 'p-retry';
import { Webhook } from 'standardwebhooks';
import type { Store } from './store/index.ts';
import type { Delivery, EventType } from './store/webhooks.ts';

/** Delivers messages to the webhooks of organizations. */
export interface WebhookSender {
  /** Sends a change to the organization's webhook, if it has one. Does not wait. */
  send(organizationId: number, type: EventType, snippetId: number): void;
  /** Resolves when no delivery is in progress. */
  settled(): Promise<void>;
  /** Stops deliveries. They are sent when the service starts again. */
  close(): Promise<void>;
}

export interface SenderOptions {
  /**
   * The wait before the second attempt, in milliseconds. It triples with each further attempt.
   *
   * @default 1,000
   */
  firstWait?: number;
  /** The time for one attempt, in milliseconds. @default 10,000 */
  timeout?: number;
}

const maxAttempts = 5;

const maxAttemptsAtOnce = 5;

/**
 * Sends signed webhooks as in Standard Webhooks. This is an example of what the service could offer, since
 * the specification has no events. A public service would have to refuse URLs in its own network. Here, the
 * receiver is on the same machine.
 */
export function createWebhookSender(
  { webhooks }: Store,
  { firstWait = 1_000, timeout = 10_000 }: SenderOptions = {},
): WebhookSender {
  const closing = new AbortController();
  const { signal } = closing;
  const underWay = new Set<Promise<void>>();
  const limit = pLimit(maxAttemptsAtOnce);

  /** Makes one attempt. @returns the status of the answer. @throws the reason to log. */
  async function attempt({ organizationId, messageId, type, at, snippetId }: Delivery): Promise<string> {
    // The webhook may have changed since the last attempt.
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
    // The body is not needed, and may be endless.
    await body?.cancel();
    if (status === 410) throw new AbortError('410');
    // Redirects count as failures: they could lead to any host.
    if (status < 200 || status > 299) throw new Error(String(status));
    return String(status);
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const record = (state: Delivery['state'], answer: string) => webhooks.record(delivery.id, state, answer);
    try {
      const answer = await pRetry(() => limit(() => attempt(delivery)), {
        ...{ retries: maxAttempts - 1, minTimeout: firstWait, factor: 3, randomize: true, signal },
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

  async function settled(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  for (const delivery of webhooks.pending()) begin(delivery);
  return {
    send(organizationId, type, snippetId) {
      if (webhooks.endpoint(organizationId) !== undefined)
        begin(webhooks.add(organizationId, type, snippetId));
    },
    settled,
    async close() {
      closing.abort();
      await settled();
    },
  };
}

/** Headers that prove that the sender knows the secret, and when it was sent. */
export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  // Receivers compare the time of the attempt with their clock, so this is not the time of the event.
  const at = new Date();
  return {
    'webhook-id': id,
    'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}
