import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;

export interface SignedCall {
  headers: Record<string, string>;
  body: string;
}

/** A call that the reference implementation of Standard Webhooks has signed. */
export function signedCall({ id = `msg_${randomUUID()}`, secret = webhookSecret } = {}): SignedCall {
  const body = JSON.stringify({ type: 'snippet.published', timestamp: new Date(), data: { id: 42 } });
  const now = new Date();
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, body),
    },
    body,
  };
}
