import pLimit from 'p-limit';
import type { Storage } from 'unstorage';
import { cleanText } from '../client/clean-text.ts';
import { type CacheEntry, readCacheEntry } from './cache-entry.ts';
import { openStorage, type StorageOptions } from './open-storage.ts';

const longestOperation = 2_000;
// More open files at once than this, and a system may refuse.
const operationsAtOnce = 32;

/**
 * Keeps answers, and never is a reason for a build to fail: what cannot be read is not there, what cannot be
 * written is not kept. A storage that fails or hangs is left alone from then on, and that is said once.
 */
export class SnippetCache {
  readonly #options: StorageOptions;
  readonly #keepFor: number;
  readonly #warn: (line: string) => void;
  readonly #queue = pLimit(operationsAtOnce);
  readonly #writes = new Set<Promise<unknown>>();
  readonly #failed = { read: false, write: false };
  #storage: Promise<Storage> | undefined;
  #trouble: Error | undefined;

  /** @param keepFor in milliseconds, for storages that forget by themselves. */
  constructor(options: StorageOptions, keepFor: number, warn: (line: string) => void) {
    this.#options = options;
    this.#keepFor = keepFor;
    this.#warn = warn;
  }

  async read(key: string): Promise<CacheEntry | undefined> {
    return readCacheEntry(await this.#attempt('read', (storage) => storage.getItem(key)));
  }

  /** Returns at once; {@link close} waits until everything is written. */
  write(key: string, entry: CacheEntry): void {
    const ttl = Math.ceil(this.#keepFor / 1000);
    const write = this.#attempt('write', (storage) => storage.setItem(key, entry, { ttl }));
    this.#writes.add(write);
    void write.then(() => this.#writes.delete(write));
  }

  async close(): Promise<void> {
    await Promise.all(this.#writes);
    await this.#storage?.then((storage) => within(longestOperation, storage.dispose())).catch(() => {});
  }

  #attempt<T>(kind: 'read' | 'write', operation: (storage: Storage) => Promise<T>): Promise<T | undefined> {
    return this.#queue(async () => {
      if (this.#failed[kind]) return undefined;
      try {
        this.#storage ??= openStorage(this.#options, (error) => {
          this.#trouble = error;
        });
        return await within(longestOperation, this.#storage.then(operation));
      } catch (error) {
        this.#leaveAlone(kind, this.#trouble ?? (error as Error));
        return undefined;
      }
    });
  }

  #leaveAlone(kind: 'read' | 'write', { message }: Error): void {
    const isNews = !this.#failed.read && !this.#failed.write;
    this.#failed[kind] = true;
    if (!isNews) return;
    this.#warn(`The cache of snippets cannot be used, so this run goes on without: ${cleanText(message)}`);
  }
}

function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`no answer within ${milliseconds / 1000} s`)),
    milliseconds,
  );
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
