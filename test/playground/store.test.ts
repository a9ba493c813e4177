import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../../playground/service/index.ts';
import { folderWith } from '../support/site/folder.ts';

describe('a database of another version', () => {
  /** Gives a new database another version, and starts the service again. */
  async function startAfterChange(change: string) {
    const file = join((await folderWith({})).directory, 'service.sqlite');
    const first = await startService({ database: file });
    const [organization] = first.store.organizations.list();
    const { secret } = first.store.keys.create(organization?.id ?? 0, 'secret', 'of a site');
    first.store.snippets.create(organization?.id ?? 0, { id: 900, name: 'Only there' });
    await first.close();
    const database = new DatabaseSync(file);
    database.exec(`${change}; PRAGMA user_version = 99;`);
    database.close();
    const said: string[] = [];
    const second = await startService({ database: file, onSetAside: (line) => void said.push(line) });
    onTestFinished(() => second.close());
    return { ...second, secret, said, organizationId: organization?.id ?? 0 };
  }

  test('is set aside with a message, and its keys stay', async () => {
    const { store, secret, said, organizationId } = await startAfterChange('');
    expect(store.snippets.get(organizationId, 41)?.name).toBe('Announcement banner');
    expect(store.snippets.get(organizationId, 900)).toBeUndefined();
    expect(store.keys.find(secret)).toMatchObject({ name: 'of a site', organizationId });
    expect(said).toEqual([expect.stringContaining(`is kept as ${store.setAside}, and a new one begins.`)]);
    expect(said[0]).toContain('The API keys stay.');
    const other = new DatabaseSync(store.setAside ?? '', { readOnly: true });
    expect(other.prepare('SELECT name FROM snippets WHERE id = 900').get()).toEqual({ name: 'Only there' });
    other.close();
  });

  test('whose keys have another form is set aside without them, with a message', async () => {
    const change = 'ALTER TABLE api_keys RENAME COLUMN hash TO digest';
    const { store, secret, said } = await startAfterChange(change);
    expect(store.keys.find(secret)).toBeUndefined();
    expect(said).toEqual([expect.stringContaining('Its API keys could not be read.')]);
  });
});
