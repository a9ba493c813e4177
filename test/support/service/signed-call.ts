import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** The secret of webhooks in tests. */
export const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;

/** The headers and the body of a call of a webhook. */
export interface SignedCall {
  headers: Record<string, string>;
  body: string;
}

/** Makes a call, signed by the reference implementation of Standard Webhooks. */
export function signedCall({
  id = `msg_${randomUUID()}`,
  secret = webhookSecret,
  at = new Date(),
} = {}): SignedCall {
  const body = JSON.stringify({ type: 'snippet.published', timestamp: at, data: { id: 42 } });
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
    body,
  };
}
