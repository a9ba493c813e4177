import { existsSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Keys } from './keys.ts';
import { Organizations } from './organizations.ts';
import { RequestLog } from './request-log.ts';
import { schema, schemaVersion } from './schema.ts';
import { Sessions } from './sessions.ts';
import { Snippets } from './snippets.ts';
import { Webhooks } from './webhooks.ts';

/** The service's data. */
export interface Store {
  organizations: Organizations;
  keys: Keys;
  snippets: Snippets;
  requests: RequestLog;
  sessions: Sessions;
  webhooks: Webhooks;
  /** The new path of a database of another version that was set aside. */
  setAside: string | undefined;
  close(): void;
}

/**
 * Opens the service's data in one SQLite file. A file from another version of the service is set aside.
 *
 * @param file a path, or `:memory:`.
 */
export function openStore(file: string): Store {
  let database = connect(file);
  let setAside: string | undefined;
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  if (version !== 0 && version !== schemaVersion) {
    database.close();
    setAside = `${file}.version-${version}.${Date.now()}`;
    // The other files exist while another process has the database open.
    for (const part of ['', '-wal', '-shm']) {
      if (existsSync(file + part)) renameSync(file + part, setAside + part);
    }
    database = connect(file);
  }
  // The statements do nothing if the schema exists: another process may have just made it.
  database.exec(`BEGIN IMMEDIATE; ${schema} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
  const requests = new RequestLog(database);
  return {
    organizations: new Organizations(database),
    keys: new Keys(database),
    snippets: new Snippets(database),
    requests,
    sessions: new Sessions(database),
    webhooks: new Webhooks(database),
    setAside,
    close() {
      requests.write();
      database.close();
    },
  };
}

function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  // WAL allows reads during a publish. With FULL, an acknowledged publish survives a crash of the machine,
  // not only of the process.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  return database;
}
