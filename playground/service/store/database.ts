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
  const version = versionOf(database);
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

/** A value of a query, or a part of its text. */
type Part = SQLInputValue | { sql: string };

/** A part of the store. What a query selects has the columns that its caller names. */
export class Table {
  protected readonly database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  protected all<Row>(texts: TemplateStringsArray, ...parts: Part[]): Row[] {
    const { statement, values } = this.#prepare(texts, parts);
    return statement.all(...values) as Row[];
  }

  protected one<Row>(texts: TemplateStringsArray, ...parts: Part[]): Row | undefined {
    const { statement, values } = this.#prepare(texts, parts);
    return statement.get(...values) as Row | undefined;
  }

  /** Returns how many rows were changed. */
  protected run(texts: TemplateStringsArray, ...parts: Part[]): number {
    const { statement, values } = this.#prepare(texts, parts);
    return Number(statement.run(...values).changes);
  }

  #prepare([first = '', ...texts]: TemplateStringsArray, parts: readonly Part[]) {
    const values: SQLInputValue[] = [];
    const sql = texts.map((text, index) => {
      const part = parts[index] ?? null;
      if (typeof part === 'object' && part !== null && 'sql' in part) return part.sql + text;
      values.push(part);
      return `?${text}`;
    });
    return { statement: this.database.prepare(first + sql.join('')), values };
  }
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

function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  // WAL lets a page be read while another is published; FULL makes a publish that was acknowledged survive a
  // crash of the machine and not only of the process.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  return database;
}

function versionOf(database: DatabaseSync): number {
  const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  return user_version;
}

function create(database: DatabaseSync): DatabaseSync {
  transaction(database, () => {
    // Another process may have been first.
    if (versionOf(database) !== 0) return;
    database.exec(schema);
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
  });
  return database;
}
