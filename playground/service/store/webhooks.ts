import { randomBytes, randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

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

const columns = `id, organization_id AS organizationId, message_id AS messageId, type, snippet_id AS snippetId, at, state,
  attempts, answer`;
const kept = 100;

/** The webhooks of organizations: an extension, of which the specification says nothing. */
export class Webhooks {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  endpoint(organizationId: number): Endpoint | undefined {
    const row = this.#database
      .prepare('SELECT url, secret FROM webhooks WHERE organization_id = ?')
      .get(organizationId);
    return row as unknown as Endpoint | undefined;
  }

  /** Switches it on, or sends to another URL from now on. Returns the secret if one was made. */
  setUrl(organizationId: number, url: string): string | undefined {
    const { changes } = this.#database
      .prepare('UPDATE webhooks SET url = ? WHERE organization_id = ?')
      .run(url, organizationId);
    if (changes === 1) return undefined;
    const secret = newSecret();
    this.#database
      .prepare('INSERT INTO webhooks (organization_id, url, secret) VALUES (?, ?, ?)')
      .run(organizationId, url, secret);
    return secret;
  }

  /** Replaces the secret. Returns the new one, unless there is no webhook. */
  renewSecret(organizationId: number): string | undefined {
    const secret = newSecret();
    const { changes } = this.#database
      .prepare('UPDATE webhooks SET secret = ? WHERE organization_id = ?')
      .run(secret, organizationId);
    return changes === 1 ? secret : undefined;
  }

  remove(organizationId: number): void {
    this.#database.prepare('DELETE FROM webhooks WHERE organization_id = ?').run(organizationId);
  }

  /** Adds a message that has to be delivered. Only the last hundred of an organization are kept. */
  add(organizationId: number, type: EventType, snippetId: number): Delivery {
    const { lastInsertRowid } = this.#database
      .prepare(
        'INSERT INTO deliveries (organization_id, message_id, type, snippet_id, at) VALUES (?, ?, ?, ?, ?)',
      )
      .run(organizationId, `msg_${randomUUID()}`, type, snippetId, new Date().toISOString());
    this.#database
      .prepare(
        `DELETE FROM deliveries WHERE organization_id = ? AND id NOT IN
           (SELECT id FROM deliveries WHERE organization_id = ? ORDER BY id DESC LIMIT ?)`,
      )
      .run(organizationId, organizationId, kept);
    const row = this.#database.prepare(`SELECT ${columns} FROM deliveries WHERE id = ?`).get(lastInsertRowid);
    return row as unknown as Delivery;
  }

  /** Writes down an attempt. */
  record(id: number, state: Delivery['state'], answer: string): void {
    this.#database
      .prepare('UPDATE deliveries SET state = ?, answer = ?, attempts = attempts + 1 WHERE id = ?')
      .run(state, answer, id);
  }

  /** Of all organizations: what was not delivered before the service ended. */
  pending(): Delivery[] {
    const rows = this.#database
      .prepare(`SELECT ${columns} FROM deliveries WHERE state = 'pending' ORDER BY id`)
      .all();
    return rows as unknown as Delivery[];
  }

  /** The newest first. */
  list(organizationId: number, limit: number): Delivery[] {
    const rows = this.#database
      .prepare(`SELECT ${columns} FROM deliveries WHERE organization_id = ? ORDER BY id DESC LIMIT ?`)
      .all(organizationId, limit);
    return rows as unknown as Delivery[];
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
