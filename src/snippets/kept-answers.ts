import { hash } from 'node:crypto';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { createStorage, type Driver, type Storage } from 'unstorage';
import fsLite from 'unstorage/drivers/fs-lite';
import { z } from 'zod';
import { containsKnownKey } from '../client/api-key.ts';
import { reasonOf } from '../client/clean-text.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { writeAtomically } from '../files/write.ts';
import type { Settings } from '../settings/settings.ts';

const answerSchema = z.object({
  content: z.string(),
  variant: z.enum(['render', 'retrieve']),
  name: z.string().optional(),
  /** When the service sent it, in milliseconds since the epoch. */
  fetchedAt: z.int().min(0),
});

export type KeptAnswer = z.infer<typeof answerSchema>;

type CacheSettings = Exclude<Settings['cache'], false>;

const operationTimeout = 2_000;
// For storages that delete old entries: how long an answer is kept at least, in milliseconds.
const keepFor = 30 * 24 * 60 * 60 * 1000;

/** Never fails a build: a storage that fails or hangs is not used for the rest of the run, which is a warning. */
export class KeptAnswers {
  readonly #folder: string;
  readonly #cache: CacheSettings;
  readonly #settings: Settings;
  readonly #warn: (line: string) => void;
  // Some systems limit the number of open files.
  readonly #queue = pLimit(32);
  #written: Promise<unknown> = Promise.resolve();
  readonly #failed = { read: false, write: false };
  #storage: Promise<Storage> | undefined;
  #connectionError: Error | undefined;

  /** @param folder where they are, unless the user has named a storage. */
  constructor(folder: string, cache: CacheSettings, settings: Settings, warn: (line: string) => void) {
    this.#folder = folder;
    this.#cache = cache;
    this.#settings = settings;
    this.#warn = warn;
  }

  async read(request: SnippetRequest): Promise<KeptAnswer | undefined> {
    const stored = await this.#attempt('read', (storage) => storage.getItem(this.#keyOf(request)));
    // It may be cut off, or written by something else.
    return answerSchema.safeParse(stored).data;
  }

  /** In the background. No answer with the API key is kept. */
  write(request: SnippetRequest, answer: KeptAnswer): void {
    if (containsKnownKey(answer.content) || containsKnownKey(answer.name ?? '')) return;
    const longest = Math.max(keepFor, this.#cache.maxAge, this.#settings.staleIfError);
    const options = { ttl: Math.ceil(longest / 1000) };
    this.#write((storage) => storage.setItem<KeptAnswer>(this.#keyOf(request), answer, options));
  }

  remove(request: SnippetRequest): void {
    this.#write((storage) => storage.removeItem(this.#keyOf(request)));
  }

  async close(): Promise<void> {
    await this.#written;
    await this.#storage?.then((storage) => withTimeout(storage.dispose())).catch(() => {});
  }

  /** A file name that is valid on every system. */
  #keyOf({ id, params }: SnippetRequest): string {
    const { apiKey = '', renderBaseUrl, retrieveBaseUrl } = this.#settings;
    // Another API key may see other snippets.
    const parts = [hash('sha256', apiKey), renderBaseUrl, retrieveBaseUrl, id, params];
    return hash('sha256', JSON.stringify(parts));
  }

  #write(operation: (storage: Storage) => Promise<void>): void {
    this.#written = Promise.all([this.#written, this.#attempt('write', operation)]);
  }

  #attempt<T>(kind: 'read' | 'write', operation: (storage: Storage) => Promise<T>): Promise<T | undefined> {
    return this.#queue(async () => {
      if (this.#failed[kind]) return undefined;
      try {
        this.#storage ??= this.#open();
        return await withTimeout(this.#storage.then(operation));
      } catch (error) {
        const isFirst = !this.#failed.read && !this.#failed.write;
        this.#failed[kind] = true;
        const reason = reasonOf(this.#connectionError ?? error);
        if (isFirst) this.#warn(`The snippet cache failed and is not used for this run: ${reason}`);
        return undefined;
      }
    });
  }

  /** Loads a driver, which brings a client. */
  async #open(): Promise<Storage> {
    const { driver: chosen = fileDriver(this.#folder), options = {} } = this.#cache;
    const driver: Driver =
      typeof chosen === 'string' ? (await import(`unstorage/drivers/${chosen}`)).default(options) : chosen;
    const client = driver.getInstance?.() as
      | { on?(event: 'error', listener: (error: Error) => void): void }
      | undefined;
    // Without a listener, a lost connection would end the process.
    client?.on?.('error', (error) => {
      this.#connectionError = error;
    });
    return createStorage({ driver });
  }
}

/** unstorage's own, but a file is replaced as a whole: a build that is killed leaves no partial one. */
function fileDriver(base: string): Driver {
  return { ...fsLite({ base }), setItem: (key, value) => writeAtomically(join(base, key), value) };
}

const ticks = 10;

/** Counts time in which this process could have read an answer: while Vite bundles, it may stand still for longer. */
function withTimeout<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let left = ticks;
  const timer = setInterval(() => {
    left -= 1;
    if (left === 0) reject(new Error(`no answer within ${operationTimeout / 1000} s`));
  }, operationTimeout / ticks);
  return Promise.race([work, promise]).finally(() => clearInterval(timer));
}
