import { existsSync, renameSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { schema, schemaVersion } from './schema.ts';

/**
 * Opens the database. One that another version of the service has made is set aside, whole.
 *
 * @param file a path, or `:memory:`.
 * @returns also where that one is now, in whose place this one is new
 */
export function openDatabase(file: string): { database: DatabaseSync; setAside?: string } {
  const database = connect(file);
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  if (version === schemaVersion) return { database };
  if (version === 0) return { database: create(database) };
  database.close();
  const setAside = `${file}.version-${version}.${Date.now()}`;
  // The files beside it are there while another process has it open.
  for (const part of ['', '-wal', '-shm']) {
    if (existsSync(file + part)) renameSync(file + part, setAside + part);
  }
  return { database: create(connect(file)), setAside };
}

/** A part of the store. What a query selects has the columns that its caller names. */
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

  /** Runs what `work` does as one transaction: all of it, or nothing. */
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

function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  // WAL lets a page be read while another is published; FULL makes a publish that was acknowledged survive a
  // crash of the machine and not only of the process.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  return database;
}

/** Another process may have been first: then nothing is left to do. */
function create(database: DatabaseSync): DatabaseSync {
  database.exec(`BEGIN IMMEDIATE; ${schema} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
  return database;
}
