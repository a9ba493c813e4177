import { Table } from './table.ts';

export interface LoggedRequest {
  at: string;
  organizationId: number | null;
  keyId: number | null;
  variant: 'render' | 'retrieve';
  /** The id as the path has it: it may not be a number. */
  snippetId: string;
  params: string | null;
  status: number;
  milliseconds: number;
  userAgent: string;
}

const maxRequests = 10_000;

const writeDelayMilliseconds = 100;

/**
 * The requests of builds, with their answers. Only the last ten thousand are kept.
 *
 * Requests are written a moment later, many in one transaction, so that answers do not wait for the disk. A
 * crash loses only the last moment.
 */
export class RequestLog extends Table {
  #unwritten: LoggedRequest[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(request: LoggedRequest): void {
    this.#unwritten.push(request);
    this.#timer ??= setTimeout(() => this.write(), writeDelayMilliseconds).unref();
  }

  /** Writes new requests to the disk. */
  write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const requests = this.#unwritten;
    this.#unwritten = [];
    if (requests.length === 0) return;
    this.transaction(() => {
      const insert = this.database.prepare(
        `INSERT INTO requests (at, organizationId, keyId, variant, snippetId, params, status, milliseconds, userAgent)
         VALUES (:at, :organizationId, :keyId, :variant, :snippetId, :params, :status, :milliseconds, :userAgent)`,
      );
      for (const request of requests) insert.run({ ...request });
      this.run`DELETE FROM requests WHERE id <= (SELECT MAX(id) FROM requests) - ${maxRequests}`;
    });
  }

  /** The last requests, newest first. */
  list(organizationId: number, limit = 100): LoggedRequest[] {
    this.write();
    return this
      .all`SELECT * FROM requests WHERE organizationId = ${organizationId} ORDER BY id DESC LIMIT ${limit}`;
  }

  /** The last request of each key in the log, by the key's id. */
  lastUses(organizationId: number): Map<number, { at: string; userAgent: string }> {
    this.write();
    // SQLite takes the other columns from the row with the maximum.
    const rows = this.all<{ keyId: number; at: string; userAgent: string }>`
      SELECT keyId, at, userAgent, MAX(id) FROM requests
      WHERE organizationId = ${organizationId} AND keyId IS NOT NULL GROUP BY keyId`;
    return new Map(rows.map((row) => [row.keyId, row]));
  }
}
