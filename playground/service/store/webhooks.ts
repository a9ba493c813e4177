import { randomBytes, randomUUID } from 'node:crypto';
import { Table } from './table.ts';

/** Where an organization wants to be told of changes. */
export interface Endpoint {
  url: string;
  /** What messages are signed with: `whsec_` and base64. Kept as it is, since a signature cannot be made from a hash. */
  secret: string;
}

export type EventType = 'snippet.published' | 'snippet.unpublished' | 'snippet.deleted';

/** One message, and what became of it. */
export interface Delivery {
  id: number;
  organizationId: number;
  /** The same in each attempt, so that the receiver can tell a repetition. */
  messageId: string;
  type: EventType;
  snippetId: number;
  /** When it happened. */
  at: string;
  state: 'pending' | 'delivered' | 'failed';
  /** How often it was sent. */
  attempts: number;
  /** What the last attempt was answered with, or why it was not; `null` before the first one has ended. */
  answer: string | null;
}

const kept = 100;

/** The webhooks of organizations: an extension, of which the specification says nothing. */
export class Webhooks extends Table {
  endpoint(organizationId: number): Endpoint | undefined {
    return this.one`SELECT url, secret FROM webhooks WHERE organizationId = ${organizationId}`;
  }

  /** Switches it on, or sends to another URL from now on. Returns the secret if one was made. */
  setUrl(organizationId: number, url: string): string | undefined {
    const secret = newSecret();
    const kept = this.one<Endpoint>`INSERT INTO webhooks (organizationId, url, secret)
      VALUES (${organizationId}, ${url}, ${secret})
      ON CONFLICT (organizationId) DO UPDATE SET url = excluded.url RETURNING *`;
    return kept?.secret === secret ? secret : undefined;
  }

  /** Replaces the secret. Returns the new one, unless there is no webhook. */
  renewSecret(organizationId: number): string | undefined {
    const renewed = this.one<Endpoint>`UPDATE webhooks SET secret = ${newSecret()}
      WHERE organizationId = ${organizationId} RETURNING *`;
    return renewed?.secret;
  }

  remove(organizationId: number): void {
    this.run`DELETE FROM webhooks WHERE organizationId = ${organizationId}`;
  }

  /** Adds a message that has to be delivered. Only the last hundred of an organization are kept. */
  add(organizationId: number, type: EventType, snippetId: number): Delivery {
    const id = `msg_${randomUUID()}`;
    const added = this.one<Delivery>`
      INSERT INTO deliveries (organizationId, messageId, type, snippetId, at)
      VALUES (${organizationId}, ${id}, ${type}, ${snippetId}, ${new Date().toISOString()}) RETURNING *`;
    this.run`DELETE FROM deliveries WHERE organizationId = ${organizationId} AND id NOT IN
      (SELECT id FROM deliveries WHERE organizationId = ${organizationId} ORDER BY id DESC LIMIT ${kept})`;
    return added as Delivery;
  }

  /** Writes down an attempt. */
  record(id: number, state: Delivery['state'], answer: string): void {
    this
      .run`UPDATE deliveries SET state = ${state}, answer = ${answer}, attempts = attempts + 1 WHERE id = ${id}`;
  }

  /** Of all organizations: what was not delivered before the service ended. */
  pending(): Delivery[] {
    return this.all`SELECT * FROM deliveries WHERE state = 'pending' ORDER BY id`;
  }

  /** The newest first. */
  list(organizationId: number, limit: number): Delivery[] {
    return this.all`SELECT * FROM deliveries
      WHERE organizationId = ${organizationId} ORDER BY id DESC LIMIT ${limit}`;
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
