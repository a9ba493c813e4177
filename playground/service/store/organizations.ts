import type { DatabaseSync } from 'node:sqlite';

export type Subscription = 'active' | 'expired';

export interface Organization {
  id: number;
  name: string;
  subscription: Subscription;
}

export class Organizations {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  create(name: string): Organization {
    const { lastInsertRowid } = this.#database
      .prepare('INSERT INTO organizations (name) VALUES (?)')
      .run(name);
    return { id: Number(lastInsertRowid), name, subscription: 'active' };
  }

  list(): Organization[] {
    const rows = this.#database.prepare('SELECT id, name, subscription FROM organizations ORDER BY id').all();
    return rows as unknown as Organization[];
  }

  get(id: number): Organization | undefined {
    const row = this.#database
      .prepare('SELECT id, name, subscription FROM organizations WHERE id = ?')
      .get(id);
    return row as unknown as Organization | undefined;
  }

  setSubscription(id: number, subscription: Subscription): void {
    this.#database.prepare('UPDATE organizations SET subscription = ? WHERE id = ?').run(subscription, id);
  }
}
