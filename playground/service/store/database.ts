import { DatabaseSync } from 'node:sqlite';
import { migrations } from './migrations.ts';

/**
 * Opens the database, new or old, and brings it to the newest schema.
 *
 * @param file a path, or `:memory:`.
 */
export function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  // WAL lets a page be read while another is published; FULL makes a publish that was acknowledged survive a
  // crash of the machine and not only of the process.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  migrate(database);
  return database;
}

/** Runs what `work` does as one transaction: all of it, or nothing. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function migrate(database: DatabaseSync): void {
  transaction(database, () => {
    const row = database.prepare('PRAGMA user_version').get() as { user_version: number };
    for (const migration of migrations.slice(row.user_version)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}
