import { createStorage, type Driver, type Storage } from 'unstorage';
import { fileDriver } from './file-driver.ts';

export interface StorageOptions {
  /** The name of a driver of unstorage, or one that is made already; files where there is none. */
  driver: string | Driver | undefined;
  /** What the driver of that name is told. */
  options: Record<string, unknown> | undefined;
  /** Where files go. */
  folder: string;
}

/**
 * Opens what answers are kept in. Loads a driver only here, because each brings a client of its own.
 *
 * @param onTrouble told when such a client has lost its connection: it says so by an event, and into the log or by
 * ending the process where nobody listens.
 */
export async function openStorage(
  { driver, options, folder }: StorageOptions,
  onTrouble: (error: Error) => void,
): Promise<Storage> {
  const opened = await openDriver({ driver, options, folder });
  const client = opened.getInstance?.() as { on?: unknown } | undefined;
  if (typeof client?.on === 'function') client.on('error', onTrouble);
  return createStorage({ driver: opened });
}

async function openDriver({ driver, options, folder }: StorageOptions): Promise<Driver> {
  if (driver === undefined) return fileDriver({ base: folder });
  if (typeof driver !== 'string') return driver;
  const { default: make } = await import(`unstorage/drivers/${driver}`);
  return make(options ?? {});
}
