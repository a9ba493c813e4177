import { openDatabase } from './database.ts';
import { Keys } from './keys.ts';
import { Organizations } from './organizations.ts';
import { RequestLog } from './request-log.ts';
import { Snippets } from './snippets.ts';
import { Webhooks } from './webhooks.ts';

export type Store = ReturnType<typeof openStore>;

/**
 * Everything the service keeps, in one SQLite file.
 *
 * @param file a path, or `:memory:`.
 */
export function openStore(file: string) {
  const { database, setAside } = openDatabase(file);
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
