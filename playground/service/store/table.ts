import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** A part of the store. Callers name the type of the selected rows. */
export class Table {
  protected readonly database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  protected all<Row>(texts: TemplateStringsArray, ...values: SQLInputValue[]): Row[] {
    return this.database.prepare(texts.join('?')).all(...values) as Row[];
  }

  protected one<Row>(texts: TemplateStringsArray, ...values: SQLInputValue[]): Row | undefined {
    return this.database.prepare(texts.join('?')).get(...values) as Row | undefined;
  }

  /** Returns how many rows were changed. */
  protected run(texts: TemplateStringsArray, ...values: SQLInputValue[]): number {
    return Number(this.database.prepare(texts.join('?')).run(...values).changes);
  }

  /** Runs `work` in one transaction. */
  protected transaction<T>(work: () => T): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }
}
