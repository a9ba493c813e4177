import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import { Keys } from './keys.ts';
import { Organizations } from './organizations.ts';
import { RequestLog } from './request-log.ts';
import { Snippets } from './snippets.ts';
import { Webhooks } from './webhooks.ts';

/** Everything the service keeps, in one SQLite file. */
export class Store {
  readonly #database: DatabaseSync;
  readonly organizations: Organizations;
  readonly keys: Keys;
  readonly snippets: Snippets;
  readonly requests: RequestLog;
  readonly webhooks: Webhooks;
  /** Where a database of another version is now, in whose place this one is new. */
  readonly setAside: string | undefined;

  /** @param file a path, or `:memory:`. */
  constructor(file: string) {
    const { database, setAside } = openDatabase(file);
    this.#database = database;
    this.setAside = setAside;
    this.organizations = new Organizations(this.#database);
    this.keys = new Keys(this.#database);
    this.snippets = new Snippets(this.#database);
    this.requests = new RequestLog(this.#database);
    this.webhooks = new Webhooks(this.#database);
  }

  close(): void {
    this.requests.write();
    this.#database.close();
  }
}
