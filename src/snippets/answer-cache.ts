import { hash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import pLimit from 'p-limit';
import { createStorage, type Driver, type Storage } from 'unstorage';
import fsLite from 'unstorage/drivers/fs-lite';
import { z } from 'zod';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Variant } from '../client/variants.ts';
import { writeAtomically } from '../files/write.ts';
import type { Settings } from '../settings/settings.ts';
import { reasonOf } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';

/** An answer of the service that an earlier run kept in the cache. */
export interface KeptAnswer {
  /** The content, exactly as the service sent it. */
  content: string;
  variant: Variant;
  /** The snippet's name, which only variant A sends. */
  name?: string | undefined;
  /** When the service sent the answer, in milliseconds since the epoch. */
  fetchedAt: number;
}

/** An answer as the cache has it. Entries of earlier versions have no checksum. */
interface CacheEntry extends KeptAnswer {
  checksum?: number | undefined;
}

const cachedAnswerSchema: z.ZodType<CacheEntry> = z
  .object({
    content: z.string(),
    variant: z.enum(['render', 'retrieve']),
    name: z.string().optional(),
    fetchedAt: z.int().min(0),
    checksum: z.int().optional(),
  })
  .refine((entry) => entry.checksum === undefined || entry.checksum === checksumOf(entry));

const checksumOf = ({ content, variant, name, fetchedAt }: KeptAnswer) =>
  crc32(JSON.stringify([content, variant, name, fetchedAt]));

/** The option `cache`, if it is not `false`. */
export type CacheSettings = Exclude<Settings['cache'], false>;

type CacheOwner = Pick<Settings, 'apiKey' | 'renderBaseUrl' | 'retrieveBaseUrl' | 'staleIfError'>;

type Operation = 'read' | 'write';

/** The number of operations at a time, as many systems limit how many files a process may have open. */
const maxOperations = 32;

/** How long at least a storage with expiry, such as Redis, keeps an answer, in milliseconds. */
const minimumLifetime = 30 * 24 * 60 * 60 * 1000;

/**
 * Keeps answers of the service for later runs, in files or in the storage that the option `cache` names.
 *
 * A cache never fails a build: after a read that fails or hangs, nothing more is read in this run, and
 * likewise for writes. The first failure is a warning. Changes are written in the background: `close` waits.
 */
export class AnswerCache {
  readonly #folder: string;
  readonly #settings: CacheSettings;
  readonly #warn: (line: string) => void;
  /** A hash of the API key, and the service's URLs. The name of every entry depends on them. */
  readonly #owner: readonly (string | undefined)[];
  /** How long a storage with expiry keeps an entry, in seconds. */
  readonly #timeToLive: number;
  readonly #queue = pLimit(maxOperations);
  /** Which kinds of operation have failed, so that they are not tried again in this run. */
  readonly #hasFailed: Record<Operation, boolean> = { read: false, write: false };
  /** Opened by the first operation. */
  #storage: Promise<Storage> | undefined;
  /** The last error that the storage's client emitted: more useful in the warning than a timeout. */
  #connectionError: Error | undefined;
  /** Settles when all changes so far have been written, or have failed. */
  #written: Promise<unknown> = Promise.resolve();

  /**
   * @param folder where answers are kept if the settings name no storage
   * @param owner whose answers these are: another API key or service may have other snippets
   */
  constructor(folder: string, settings: CacheSettings, owner: CacheOwner, warn: (line: string) => void) {
    this.#folder = folder;
    this.#settings = settings;
    this.#warn = warn;
    this.#owner = [hash('sha256', owner.apiKey ?? ''), owner.renderBaseUrl, owner.retrieveBaseUrl];
    this.#timeToLive = Math.ceil(Math.max(minimumLifetime, settings.maxAge, owner.staleIfError) / 1000);
  }

  async read(request: SnippetRequest): Promise<KeptAnswer | undefined> {
    const entry = await this.#attempt('read', (storage) => storage.getItem(this.#entryName(request)));
    // An entry may be cut off, or written by another program. If it is not valid, there is no answer.
    return cachedAnswerSchema.safeParse(entry).data;
  }

  /** Keeps an answer, unless it contains the API key. */
  write(request: SnippetRequest, answer: KeptAnswer): void {
    if (containsKnownKey(answer.content) || containsKnownKey(answer.name ?? '')) return;
    const options = { ttl: this.#timeToLive };
    const entry = { ...answer, checksum: checksumOf(answer) };
    this.#change((storage) => storage.setItem<CacheEntry>(this.#entryName(request), entry, options));
  }

  remove(request: SnippetRequest): void {
    this.#change((storage) => storage.removeItem(this.#entryName(request)));
  }

  async close(): Promise<void> {
    await this.#written;
    await this.#storage?.then((storage) => withTimeout(storage.dispose())).catch(() => {});
  }

  /** Names an entry by a hash, as that is a valid file name on every system. */
  #entryName({ id, params }: SnippetRequest) {
    return hash('sha256', JSON.stringify([...this.#owner, id, params]));
  }

  #change(operation: (storage: Storage) => Promise<void>) {
    this.#written = Promise.all([this.#written, this.#attempt('write', operation)]);
  }

  #attempt<T>(kind: Operation, operation: (storage: Storage) => Promise<T>): Promise<T | undefined> {
    return this.#queue(async () => {
      if (this.#hasFailed[kind]) return undefined;
      try {
        this.#storage ??= this.#open();
        return await withTimeout(this.#storage.then(operation));
      } catch (error) {
        const isFirst = !this.#hasFailed.read && !this.#hasFailed.write;
        this.#hasFailed[kind] = true;
        const reason = reasonOf(this.#connectionError ?? error);
        if (isFirst) this.#warn(`The snippet cache failed and is not used for this run: ${reason}`);
        return undefined;
      }
    });
  }

  async #open(): Promise<Storage> {
    const { driver: chosen = fileDriver(this.#folder), options = {} } = this.#settings;
    const driver: Driver =
      typeof chosen === 'string' ? (await import(`unstorage/drivers/${chosen}`)).default(options) : chosen;
    const client = driver.getInstance?.() as Partial<EventEmitter> | undefined;
    // Without an `error` listener on the client, a lost connection would crash Node.
    client?.on?.('error', (error) => {
      this.#connectionError = error;
    });
    return createStorage({ driver });
  }
}

/** unstorage's driver for files, but with atomic writes, so that a killed build leaves no partial file. */
function fileDriver(base: string): Driver {
  return { ...fsLite({ base }), setItem: (key, value) => writeAtomically(join(base, key), value) };
}

/** How long a storage may take for one operation, in milliseconds. */
const operationTimeout = 2_000;
const timeoutTicks = 10;

/**
 * Rejects if work takes too long. The timeout counts ticks of a timer instead of time: while Vite bundles,
 * the event loop is blocked and no answer can be read, so that time does not count.
 */
function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  let ticksLeft = timeoutTicks;
  const timer = setInterval(() => {
    ticksLeft -= 1;
    if (ticksLeft === 0) reject(new Error(`no answer within ${operationTimeout / 1000} s`));
  }, operationTimeout / timeoutTicks);
  return Promise.race([work, timedOut]).finally(() => clearInterval(timer));
}
