import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Variant } from '../client/variants.ts';
import type { Settings } from '../settings/settings.ts';
import { reasonOf } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { AnswerFiles } from './answer-files.ts';
import type { AnswerStore, StoreOperation } from './answer-store.ts';

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
  /** Which kinds of operation have failed, so that they are not tried again in this run. */
  readonly #hasFailed: Record<StoreOperation, boolean> = { read: false, write: false };
  /** Opened by the first operation. */
  #store: Promise<AnswerStore> | undefined;
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
    const entry = await this.#attempt('read', (store) => store.get(this.#entryName(request)));
    // An entry may be cut off, or written by another program. If it is not valid, there is no answer.
    return cachedAnswerSchema.safeParse(entry).data;
  }

  /** Keeps an answer, unless it contains the API key. */
  write(request: SnippetRequest, answer: KeptAnswer): void {
    if (containsKnownKey(answer.content) || containsKnownKey(answer.name ?? '')) return;
    const entry: CacheEntry = { ...answer, checksum: checksumOf(answer) };
    this.#change((store) => store.set(this.#entryName(request), entry));
  }

  remove(request: SnippetRequest): void {
    this.#change((store) => store.remove(this.#entryName(request)));
  }

  async close(): Promise<void> {
    await this.#written;
    await this.#store?.then((store) => store.close()).catch(() => {});
  }

  /** Names an entry by a hash, as that is a valid file name on every system. */
  #entryName({ id, params }: SnippetRequest) {
    return hash('sha256', JSON.stringify([...this.#owner, id, params]));
  }

  #change(operation: (store: AnswerStore) => Promise<void>) {
    this.#written = Promise.all([this.#written, this.#attempt('write', operation)]);
  }

  async #attempt<T>(
    kind: StoreOperation,
    operation: (store: AnswerStore) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#hasFailed[kind]) return undefined;
    try {
      this.#store ??= this.#open();
      return await operation(await this.#store);
    } catch (error) {
      const isFirst = !this.#hasFailed.read && !this.#hasFailed.write;
      this.#hasFailed[kind] = true;
      if (isFirst) this.#warn(`The snippet cache failed and is not used for this run: ${reasonOf(error)}`);
      return undefined;
    }
  }

  async #open(): Promise<AnswerStore> {
    const { driver, options } = this.#settings;
    if (driver === undefined) return new AnswerFiles(this.#folder);
    const { AnswerStorage } = await import('./answer-storage.ts');
    return new AnswerStorage({ driver, options }, this.#timeToLive);
  }
}
