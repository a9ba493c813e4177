import { randomBytes, randomUUID } from 'node:crypto';
import { Table } from './table.ts';

/** An organization's webhook. */
export interface Endpoint {
  url: string;
  /** Signs messages: `whsec_` and base64. Stored as plain text, since a hash cannot sign. */
  secret: string;
}

export type EventType = 'snippet.published' | 'snippet.unpublished' | 'snippet.deleted';

/** A message and its delivery. */
export interface Delivery {
  id: number;
  organizationId: number;
  /** Stays the same in each attempt, so that receivers recognize repetitions. */
  messageId: string;
  type: EventType;
  snippetId: number;
  /** The time of the event. */
  at: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  /** The last answer, or why there was no answer. `null` before the first attempt has ended. */
  answer: string | null;
}

const kept = 100;

/** The webhooks of organizations, an extension of the specification. */
export class Webhooks extends Table {
  endpoint(organizationId: number): Endpoint | undefined {
    return this.one`SELECT url, secret FROM webhooks WHERE organizationId = ${organizationId}`;
  }

  /** Switches the webhook on, or changes its URL. Returns the secret if one was made. */
  setUrl(organizationId: number, url: string): string | undefined {
    const secret = newSecret();
    const kept = this.one<Endpoint>`INSERT INTO webhooks (organizationId, url, secret)
      VALUES (${organizationId}, ${url}, ${secret})
      ON CONFLICT (organizationId) DO UPDATE SET url = excluded.url RETURNING *`;
    return kept?.secret === secret ? secret : undefined;
  }

  /** Replaces the secret of a webhook. Returns the new one. */
  renewSecret(organizationId: number): string | undefined {
    const renewed = this.one<Endpoint>`UPDATE webhooks SET secret = ${newSecret()}
      WHERE organizationId = ${organizationId} RETURNING *`;
    return renewed?.secret;
  }

  remove(organizationId: number): void {
    this.run`DELETE FROM webhooks WHERE organizationId = ${organizationId}`;
  }

  /** Adds a message to deliver. Only the last hundred per organization are kept. */
  add(organizationId: number, type: EventType, snippetId: number): Delivery {
    const id = `msg_${randomUUID()}`;
    const added = this.one<Delivery>`
      INSERT INTO deliveries (organizationId, messageId, type, snippetId, at)
      VALUES (${organizationId}, ${id}, ${type}, ${snippetId}, ${new Date().toISOString()}) RETURNING *`;
    this.run`DELETE FROM deliveries WHERE organizationId = ${organizationId} AND id NOT IN
      (SELECT id FROM deliveries WHERE organizationId = ${organizationId} ORDER BY id DESC LIMIT ${kept})`;
    return added as Delivery;
  }

  /** Records an attempt. */
  record(id: number, state: Delivery['state'], answer: string): void {
    this
      .run`UPDATE deliveries SET state = ${state}, answer = ${answer}, attempts = attempts + 1 WHERE id = ${id}`;
  }

  /** The undelivered messages of all organizations. */
  pending(): Delivery[] {
    return this.all`SELECT * FROM deliveries WHERE state = 'pending' ORDER BY id`;
  }

  /** The last messages, newest first. */
  list(organizationId: number, limit: number): Delivery[] {
    return this.all`SELECT * FROM deliveries
      WHERE organizationId = ${organizationId} ORDER BY id DESC LIMIT ${limit}`;
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
