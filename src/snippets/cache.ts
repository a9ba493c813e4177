import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { createStorage, type Driver, defineDriver, type Storage } from 'unstorage';
import fsLite, { type FSStorageOptions } from 'unstorage/drivers/fs-lite';
import { z } from 'zod';
import { cleanText } from '../client/clean-text.ts';
import type { Variant } from '../client/service-url.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { writeSmallFile } from '../files/write.ts';

const entrySchema = z.object({
  content: z.string(),
  variant: z.enum(['render', 'retrieve']),
  name: z.string().optional(),
  /** When the service sent it, in milliseconds since the epoch. */
  fetchedAt: z.int().min(0),
});

/** A good answer of the service. */
export type CacheEntry = z.infer<typeof entrySchema>;

/** Validates what a storage returned. `undefined` if it is cut off, changed, or written by something else. */
export function readCacheEntry(stored: unknown): CacheEntry | undefined {
  const parsed = entrySchema.safeParse(stored);
  return parsed.success ? parsed.data : undefined;
}

/** What distinguishes one answer from every other. */
export interface CacheKeyParts extends Pick<SnippetRequest, 'id' | 'params'> {
  baseUrl: string;
  variant: Variant;
}

/**
 * Returns a function that creates cache keys. Another API key may see other snippets, so the API key is part of each,
 * as a hash that does not reveal it.
 *
 * Lower-case hexadecimal, so that a key is a valid file name on every system.
 */
export function cacheKeys(apiKey: string): (parts: CacheKeyParts) => string {
  const fingerprint = hash('sha256', apiKey);
  return ({ baseUrl, variant, id, params }) =>
    hash('sha256', JSON.stringify([fingerprint, baseUrl, variant, id, params ?? null]));
}

export interface StorageOptions {
  /** An unstorage driver or its name; files if absent. */
  driver: string | Driver | undefined;
  /** Options for a driver given by name. */
  options: Record<string, unknown> | undefined;
  /** The folder for files. */
  folder: string;
}

const operationTimeout = 2_000;
// Some systems limit the number of open files.
const operationsAtOnce = 32;

/**
 * Stores answers, and never fails a build: what cannot be read counts as absent, what cannot be written is dropped.
 * After a storage fails or hangs, it is not used for the rest of the run, with one warning.
 */
export class SnippetCache {
  readonly #options: StorageOptions;
  readonly #keepFor: number;
  readonly #warn: (line: string) => void;
  readonly #queue = pLimit(operationsAtOnce);
  readonly #writes = new Set<Promise<unknown>>();
  readonly #failed = { read: false, write: false };
  #storage: Promise<Storage> | undefined;
  #connectionError: Error | undefined;

  /** @param keepFor in milliseconds, for storages that delete old entries by themselves. */
  constructor(options: StorageOptions, keepFor: number, warn: (line: string) => void) {
    this.#options = options;
    this.#keepFor = keepFor;
    this.#warn = warn;
  }

  async read(key: string): Promise<CacheEntry | undefined> {
    return readCacheEntry(await this.#attempt('read', (storage) => storage.getItem(key)));
  }

  /** Writes in the background. {@link close} waits until everything is written. */
  write(key: string, entry: CacheEntry): void {
    const ttl = Math.ceil(this.#keepFor / 1000);
    this.#write((storage) => storage.setItem(key, entry, { ttl }));
  }

  /** Removes an entry as {@link write} writes one. */
  remove(key: string): void {
    this.#write((storage) => storage.removeItem(key));
  }

  #write(operation: (storage: Storage) => Promise<void>): void {
    const write = this.#attempt('write', operation);
    this.#writes.add(write);
    void write.then(() => this.#writes.delete(write));
  }

  async close(): Promise<void> {
    await Promise.all(this.#writes);
    await this.#storage?.then((storage) => withTimeout(storage.dispose())).catch(() => {});
  }

  #attempt<T>(kind: 'read' | 'write', operation: (storage: Storage) => Promise<T>): Promise<T | undefined> {
    return this.#queue(async () => {
      if (this.#failed[kind]) return undefined;
      try {
        this.#storage ??= openStorage(this.#options, (error) => {
          this.#connectionError = error;
        });
        return await withTimeout(this.#storage.then(operation));
      } catch (error) {
        this.#giveUp(kind, this.#connectionError ?? (error as Error));
        return undefined;
      }
    });
  }

  #giveUp(kind: 'read' | 'write', { message }: Error): void {
    const isFirst = !this.#failed.read && !this.#failed.write;
    this.#failed[kind] = true;
    if (isFirst) this.#warn(`The snippet cache failed and is not used for this run: ${cleanText(message)}`);
  }
}

/**
 * Opens a storage. A driver is loaded only here, because each brings a client of its own.
 *
 * @param onError called when that client loses its connection. Without a listener, it would log or end the process.
 */
export async function openStorage(
  options: StorageOptions,
  onError: (error: Error) => void,
): Promise<Storage> {
  const driver = await openDriver(options);
  const client = driver.getInstance?.() as { on?: unknown } | undefined;
  if (typeof client?.on === 'function') client.on('error', onError);
  return createStorage({ driver });
}

async function openDriver({ driver, options, folder }: StorageOptions): Promise<Driver> {
  if (driver === undefined) return fileDriver({ base: folder });
  if (typeof driver !== 'string') return driver;
  const { default: create } = await import(`unstorage/drivers/${driver}`);
  return create(options ?? {});
}

/** unstorage's driver for files, except that a file is replaced as a whole: a killed build leaves no partial file. */
const fileDriver = defineDriver((options: FSStorageOptions & { base: string }): Driver => {
  let created: Promise<unknown> | undefined;
  return {
    ...fsLite(options),
    async setItem(key, value) {
      created ??= mkdir(options.base, { recursive: true });
      await created;
      writeSmallFile(join(options.base, key), value);
    },
  };
});

const ticks = 10;

/**
 * Counts only time in which this process could have read an answer: while Vite bundles, it may stand still for longer
 * than the limit, with answers that have arrived.
 */
async function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let left = ticks;
  let turn: NodeJS.Immediate | undefined;
  const count = () => {
    left -= 1;
    if (left === 0) reject(new Error(`no answer within ${operationTimeout / 1000} s`));
  };
  // After a standstill, a timer fires once. What has arrived since is read after timers, and before `setImmediate`.
  const timer = setInterval(() => {
    turn = setImmediate(count);
  }, operationTimeout / ticks);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearInterval(timer);
    clearImmediate(turn);
  }
}
