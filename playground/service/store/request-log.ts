import { Table, transaction } from './database.ts';

export interface LoggedRequest {
  at: string;
  organizationId: number | null;
  keyId: number | null;
  variant: 'render' | 'retrieve';
  /** As it stood in the path: it may be no number. */
  snippetId: string;
  params: string | null;
  status: number;
  milliseconds: number;
  userAgent: string;
}

const kept = 10_000;
const milliseconds = 100;

/**
 * Which build asked for what, and what it got. Only the last ten thousand requests are kept.
 *
 * Written a moment later, many in one transaction: an answer does not wait for the disk. A crash may lose the
 * last moment of the log, and nothing else.
 */
export class RequestLog extends Table {
  #unwritten: LoggedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(request: LoggedRequest): void {
    this.#unwritten.push(request);
    this.#timer ??= setTimeout(() => this.write(), milliseconds).unref();
  }

  /** Writes what has been added. */
  write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const requests = this.#unwritten;
    this.#unwritten = [];
    if (requests.length === 0) return;
    transaction(this.database, () => {
      const insert = this.database.prepare(
        `INSERT INTO requests (at, organization_id, key_id, variant, snippet_id, params, status, milliseconds, user_agent)
         VALUES (:at, :organizationId, :keyId, :variant, :snippetId, :params, :status, :milliseconds, :userAgent)`,
      );
      for (const request of requests) insert.run({ ...request });
      this.run`DELETE FROM requests WHERE id <= (SELECT MAX(id) FROM requests) - ${kept}`;
    });
  }

  /** The newest first. */
  list(organizationId: number, limit = 100): LoggedRequest[] {
    this.write();
    return this.all`
      SELECT at, organization_id AS organizationId, key_id AS keyId, variant, snippet_id AS snippetId, params,
        status, milliseconds, user_agent AS userAgent
      FROM requests WHERE organization_id = ${organizationId} ORDER BY id DESC LIMIT ${limit}`;
  }

  /** The last requests of each key that is still in the log, by the key's id. */
  lastUses(organizationId: number): Map<number, { at: string; userAgent: string }> {
    this.write();
    // SQLite takes the other columns from the row of the maximum.
    const rows = this.all<{ keyId: number; at: string; userAgent: string }>`
      SELECT key_id AS keyId, at, user_agent AS userAgent, MAX(id) FROM requests
      WHERE organization_id = ${organizationId} AND key_id IS NOT NULL GROUP BY key_id`;
    return new Map(rows.map(({ keyId, at, userAgent }) => [keyId, { at, userAgent }]));
  }
}
