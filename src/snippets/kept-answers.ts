import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { createStorage, type Driver, defineDriver, type Storage } from 'unstorage';
import fsLite, { type FSStorageOptions } from 'unstorage/drivers/fs-lite';
import { z } from 'zod';
import { keyDetector } from '../client/api-key.ts';
import { reasonOf } from '../client/clean-text.ts';
import type { Snippet } from '../client/snippet-client.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { effectOf, isSnippetFailure, SiteError } from '../failures/errors.ts';
import { writeSmallFile } from '../files/write.ts';
import type { Settings } from '../settings/settings.ts';

const answerSchema = z.object({
  content: z.string(),
  variant: z.enum(['render', 'retrieve']),
  name: z.string().optional(),
  /** When the service sent it, in milliseconds since the epoch. */
  fetchedAt: z.int().min(0),
});

/** A good answer of the service. */
export type KeptAnswer = z.infer<typeof answerSchema>;

export interface KeptOptions {
  warn(line: string): void;
  /** Whether the site has already shown a newer content, which a refresh could not write into this cache. */
  isSuperseded?: ((request: SnippetRequest, answer: KeptAnswer) => boolean) | undefined;
  /** Whether an answer is kept. @default each is */
  isWorthKeeping?: ((request: SnippetRequest, content: string) => boolean) | undefined;
}

const operationTimeout = 2_000;
// Some systems limit the number of open files.
const operationsAtOnce = 32;
// In milliseconds, for storages that delete old entries by themselves: how long an answer should be kept at least.
const keepFor = 30 * 24 * 60 * 60 * 1000;

/**
 * The answers of the service, kept from run to run in a storage of unstorage. Never fails a build: what cannot be read
 * counts as absent, what cannot be written is dropped. After a storage fails or hangs, it is not used for the rest of the
 * run, with one warning.
 */
export class KeptAnswers {
  readonly #settings: Settings;
  readonly #cache: Exclude<Settings['cache'], false>;
  readonly #options: KeptOptions;
  readonly #containsKey: (text: string) => boolean;
  readonly #keyParts: readonly unknown[];
  readonly #queue = pLimit(operationsAtOnce);
  readonly #writes = new Set<Promise<unknown>>();
  readonly #failed = { read: false, write: false };
  #storage: Promise<Storage> | undefined;
  #connectionError: Error | undefined;

  constructor(settings: Settings, cache: Exclude<Settings['cache'], false>, options: KeptOptions) {
    const { apiKey = '', renderBaseUrl, retrieveBaseUrl } = settings;
    this.#settings = settings;
    this.#cache = cache;
    this.#options = options;
    this.#containsKey = keyDetector(apiKey);
    // Another API key may see other snippets. Its hash does not reveal it.
    this.#keyParts = [hash('sha256', apiKey), renderBaseUrl ?? null, retrieveBaseUrl ?? null];
  }

  /**
   * The answer to use without a request.
   *
   * @throws SiteError `not-cached`, if `offline` is set and there is none.
   */
  async current(request: SnippetRequest): Promise<KeptAnswer | undefined> {
    const { offline } = this.#settings;
    const { maxAge } = this.#cache;
    if (!offline && maxAge === 0) return undefined;
    const answer = await this.#read(request);
    const isCurrent = answer !== undefined && this.#isCurrent(request, answer);
    if (!offline) return isCurrent && isYounger(answer, maxAge) ? answer : undefined;
    if (isCurrent) return answer;
    if (answer !== undefined) this.#remove(request);
    const flaw = answer === undefined ? '' : ' only as it was before the site was refreshed';
    const reason = `is ${flaw === '' ? 'not in the cache' : `in the cache${flaw}`}, and \`offline\` is set.`;
    throw new SiteError('not-cached', reason, request.id);
  }

  /** The answer to use instead, if the service is in trouble. Not if it refuses. */
  async lastGood(request: SnippetRequest, error: unknown): Promise<KeptAnswer | undefined> {
    const { staleIfError } = this.#settings;
    if (staleIfError === 0 || !isSnippetFailure(error) || effectOf(error) !== 'children') return undefined;
    const answer = await this.#read(request);
    if (answer === undefined || !isYounger(answer, staleIfError)) return undefined;
    if (this.#isCurrent(request, answer)) return answer;
    // The record that tells is gone after a build that fails: the next build may not know.
    this.#remove(request);
    return undefined;
  }

  /** Keeps an answer, in the background. {@link close} waits until everything is written. */
  keep(request: SnippetRequest, { content, variant, name }: Snippet): void {
    if (this.#containsKey(content) || this.#containsKey(name ?? '')) return;
    if (this.#options.isWorthKeeping?.(request, content) === false) return;
    const answer = { content, variant, fetchedAt: Date.now(), ...(name === undefined ? {} : { name }) };
    const ttl = Math.ceil(Math.max(keepFor, this.#cache.maxAge, this.#settings.staleIfError) / 1000);
    this.#write((storage) => storage.setItem<KeptAnswer>(this.#keyOf(request), answer, { ttl }));
  }

  async close(): Promise<void> {
    await Promise.all(this.#writes);
    await this.#storage?.then((storage) => withTimeout(storage.dispose())).catch(() => {});
  }

  #isCurrent(request: SnippetRequest, answer: KeptAnswer): boolean {
    return this.#options.isSuperseded?.(request, answer) !== true;
  }

  /** Lower-case hexadecimal, so that it is a valid file name on every system. */
  #keyOf({ id, params }: SnippetRequest): string {
    return hash('sha256', JSON.stringify([...this.#keyParts, id, params ?? null]));
  }

  async #read(request: SnippetRequest): Promise<KeptAnswer | undefined> {
    const stored = await this.#attempt('read', (storage) => storage.getItem(this.#keyOf(request)));
    // It may be cut off, changed, or written by something else.
    return answerSchema.safeParse(stored).data;
  }

  #remove(request: SnippetRequest): void {
    this.#write((storage) => storage.removeItem(this.#keyOf(request)));
  }

  #write(operation: (storage: Storage) => Promise<void>): void {
    const write = this.#attempt('write', operation);
    this.#writes.add(write);
    void write.then(() => this.#writes.delete(write));
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
        if (isFirst) this.#options.warn(`The snippet cache failed and is not used for this run: ${reason}`);
        return undefined;
      }
    });
  }

  /** A driver is loaded only here, because each brings a client of its own. */
  async #open(): Promise<Storage> {
    const driver = await this.#openDriver();
    const client = driver.getInstance?.() as { on?: unknown } | undefined;
    // Without a listener, a client that loses its connection would log, or end the process.
    if (typeof client?.on === 'function') {
      client.on('error', (error: Error) => {
        this.#connectionError = error;
      });
    }
    return createStorage({ driver });
  }

  async #openDriver(): Promise<Driver> {
    const { driver, options } = this.#cache;
    if (driver === undefined) return fileDriver({ base: this.#settings.answerFolder ?? '' });
    if (typeof driver !== 'string') return driver;
    const { default: create } = await import(`unstorage/drivers/${driver}`);
    return create(options ?? {});
  }
}

/** Whether an answer is no older than `age`, in milliseconds. A date in the future (a wrong clock) counts by its distance. */
function isYounger({ fetchedAt }: KeptAnswer, age: number): boolean {
  return Math.abs(Date.now() - fetchedAt) <= age;
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
