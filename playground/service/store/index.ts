import { existsSync, renameSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Keys } from './keys.ts';
import { Organizations } from './organizations.ts';
import { RequestLog } from './request-log.ts';
import { schema, schemaVersion } from './schema.ts';
import { Snippets } from './snippets.ts';
import { Webhooks } from './webhooks.ts';

export type Store = ReturnType<typeof openStore>;

/**
 * Everything the service keeps, in one SQLite file. One that another version of the service has made is set aside, whole.
 *
 * @param file a path, or `:memory:`.
 */
export function openStore(file: string) {
  let database = connect(file);
  let setAside: string | undefined;
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  if (version !== 0 && version !== schemaVersion) {
    database.close();
    setAside = `${file}.version-${version}.${Date.now()}`;
    // The files beside it are there while another process has it open.
    for (const part of ['', '-wal', '-shm']) {
      if (existsSync(file + part)) renameSync(file + part, setAside + part);
    }
    database = connect(file);
  }
  // Nothing is left to do where it is there, which another process may have just made.
  database.exec(`BEGIN IMMEDIATE; ${schema} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
  const requests = new RequestLog(database);
  return {
    organizations: new Organizations(database),
    keys: new Keys(database),
    snippets: new Snippets(database),
    requests,
    webhooks: new Webhooks(database),
    /** Where a database of another version is now, in whose place this one is new. */
    setAside,
    close(): void {
      requests.write();
      database.close();
    },
  };
}

function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  // WAL lets a page be read while another is published; FULL makes a publish that was acknowledged survive a
  // crash of the machine and not only of the process.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  return database;
}
