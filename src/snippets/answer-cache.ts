import { hash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { createStorage, type Driver, type Storage } from 'unstorage';
import fsLite from 'unstorage/drivers/fs-lite';
import { z } from 'zod';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { writeAtomically } from '../files/write.ts';
import type { Settings } from '../settings/settings.ts';
import { reasonOf } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';

const answerSchema: z.ZodObject<
  {
    content: z.ZodString;
    variant: z.ZodEnum<{
      render: 'render';
      retrieve: 'retrieve';
    }>;
    name: z.ZodOptional<z.ZodString>;
    fetchedAt: z.ZodInt;
  },
  z.core.$strip
> = z.object({
  content: z.string(),
  variant: z.enum(['render', 'retrieve']),
  name: z.string().optional(),
  /** When the service sent it, in milliseconds since the epoch. */
  fetchedAt: z.int().min(0),
});

export type KeptAnswer = z.infer<typeof answerSchema>;

const operationTimeout = 2_000;

// At least, in storages that delete old entries, in milliseconds.
const keepFor = 30 * 24 * 60 * 60 * 1000;

/** Never fails a build: a storage that fails or hangs is not used for the rest of the run, which is a warning. */
export function openAnswerCache(
  folder: string,
  cache: Exclude<Settings['cache'], false>,
  { apiKey = '', renderBaseUrl, retrieveBaseUrl, staleIfError }: Settings,
  warn: (line: string) => void,
) {
  // Some systems limit the number of open files.
  const queue = pLimit(32);
  const failed = { read: false, write: false };
  let written: Promise<unknown> = Promise.resolve();
  let storage: Promise<Storage> | undefined;
  let connectionError: Error | undefined;

  const open = async () => {
    const { driver: chosen = fileDriver(folder), options = {} } = cache;
    const driver: Driver =
      typeof chosen === 'string' ? (await import(`unstorage/drivers/${chosen}`)).default(options) : chosen;
    const client = driver.getInstance?.() as Partial<EventEmitter> | undefined;
    // Without a listener, a lost connection would end the process.
    client?.on?.('error', (error) => {
      connectionError = error;
    });
    return createStorage({ driver });
  };
  const attempt = <T>(kind: 'read' | 'write', operation: (storage: Storage) => Promise<T>) =>
    queue(async () => {
      if (failed[kind]) return undefined;
      try {
        storage ??= open();
        return await withTimeout(storage.then(operation));
      } catch (error) {
        const reason = reasonOf(connectionError ?? error);
        if (!failed.read && !failed.write) {
          warn(`The snippet cache failed and is not used for this run: ${reason}`);
        }
        failed[kind] = true;
        return undefined;
      }
    });
  /** In the background. */
  const change = (operation: (storage: Storage) => Promise<void>) => {
    written = Promise.all([written, attempt('write', operation)]);
  };
  // A file name that is valid on every system. Another API key may see other snippets.
  const keyOf = ({ id, params }: SnippetRequest) =>
    hash('sha256', JSON.stringify([hash('sha256', apiKey), renderBaseUrl, retrieveBaseUrl, id, params]));
  const ttl = Math.ceil(Math.max(keepFor, cache.maxAge, staleIfError) / 1000);

  return {
    async read(request: SnippetRequest): Promise<
      | {
          content: string;
          variant: 'render' | 'retrieve';
          fetchedAt: number;
          name?: string | undefined;
        }
      | undefined
    > {
      const stored = await attempt('read', (storage) => storage.getItem(keyOf(request)));
      // It may be cut off, or written by something else.
      return answerSchema.safeParse(stored).data;
    },
    /** No answer with the API key is kept. */
    write(request: SnippetRequest, answer: KeptAnswer): void {
      if (containsKnownKey(answer.content) || containsKnownKey(answer.name ?? '')) return;
      change((storage) => storage.setItem<KeptAnswer>(keyOf(request), answer, { ttl }));
    },
    remove(request: SnippetRequest): void {
      change((storage) => storage.removeItem(keyOf(request)));
    },
    async close(): Promise<void> {
      await written;
      await storage?.then((opened) => withTimeout(opened.dispose())).catch(() => {});
    },
  };
}

/** unstorage's own, but a build that is killed leaves no partial file. */
const fileDriver = (base: string): Driver => ({
  ...fsLite({ base }),
  setItem: (key, value) => writeAtomically(join(base, key), value),
});

const timeoutTicks = 10;

/** Counts time in which this process could have read an answer: while Vite bundles, it may stand still. */
function withTimeout<T>(work: Promise<T>) {
  const { promise, reject } = Promise.withResolvers<never>();
  let left = timeoutTicks;
  const timer = setInterval(() => {
    left -= 1;
    if (left === 0) reject(new Error(`no answer within ${operationTimeout / 1000} s`));
  }, operationTimeout / timeoutTicks);
  return Promise.race([work, promise]).finally(() => clearInterval(timer));
}
