import type { EventEmitter } from 'node:events';
import pLimit from 'p-limit';
import { createStorage, type Driver, type Storage } from 'unstorage';
import type { AnswerStore, StoreOperation } from './answer-store.ts';

/** The unstorage driver that the option `cache` names, or has made, with the options of a named one. */
export interface StorageSettings {
  driver: string | Driver;
  options?: Record<string, unknown> | undefined;
}

/** The number of operations at a time: a storage may be one of files, of which a process may open so many. */
const maxOperations = 32;

/**
 * The answers of a site in a storage of unstorage, such as Redis. A storage that fails or hangs once for an
 * operation is not asked for that operation again, so that a thousand snippets wait for it only once.
 */
export class AnswerStorage implements AnswerStore {
  readonly #settings: StorageSettings;
  /** How long a storage with expiry keeps an entry, in seconds. */
  readonly #timeToLive: number;
  readonly #queue = pLimit(maxOperations);
  readonly #errors: Partial<Record<StoreOperation, unknown>> = {};
  /** Opened by the first operation. */
  #storage: Promise<Storage> | undefined;
  /** The last error that the storage's client emitted: more useful in the warning than a timeout. */
  #connectionError: Error | undefined;

  constructor(settings: StorageSettings, timeToLive: number) {
    this.#settings = settings;
    this.#timeToLive = timeToLive;
  }

  get(name: string): Promise<unknown> {
    return this.#attempt('read', (storage) => storage.getItem(name));
  }

  set(name: string, entry: object): Promise<void> {
    return this.#attempt('write', (storage) => storage.setItem(name, entry, { ttl: this.#timeToLive }));
  }

  remove(name: string): Promise<void> {
    return this.#attempt('write', (storage) => storage.removeItem(name));
  }

  async close(): Promise<void> {
    await this.#storage?.then((storage) => withTimeout(storage.dispose())).catch(() => {});
  }

  #attempt<T>(kind: StoreOperation, operation: (storage: Storage) => Promise<T>): Promise<T> {
    return this.#queue(async () => {
      if (this.#errors[kind] !== undefined) throw this.#errors[kind];
      try {
        this.#storage ??= this.#open();
        return await withTimeout(this.#storage.then(operation));
      } catch (error) {
        this.#errors[kind] = this.#connectionError ?? error;
        throw this.#errors[kind];
      }
    });
  }

  async #open(): Promise<Storage> {
    const { driver: chosen, options = {} } = this.#settings;
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
