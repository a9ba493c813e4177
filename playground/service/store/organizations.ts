import { Table } from './table.ts';

export type Subscription = 'active' | 'expired';

export interface Organization {
  id: number;
  name: string;
  subscription: Subscription;
}

export class Organizations extends Table {
  create(name: string): Organization {
    return this.one`INSERT INTO organizations (name) VALUES (${name}) RETURNING *` as Organization;
  }

  list(): Organization[] {
    return this.all`SELECT * FROM organizations ORDER BY id`;
  }

  get(id: number): Organization | undefined {
    return this.one`SELECT * FROM organizations WHERE id = ${id}`;
  }

  setSubscription(id: number, subscription: Subscription): void {
    this.run`UPDATE organizations SET subscription = ${subscription} WHERE id = ${id}`;
  }
}
