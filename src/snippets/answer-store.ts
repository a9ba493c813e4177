/** What is done with a store: the one may fail while the other works. */
export type StoreOperation = 'read' | 'write';

/**
 * Where the answers of the cache are: files, or a storage that the option `cache` names. Each entry is a
 * value of JSON under a name that is valid for files. Every method rejects if the store fails.
 */
export interface AnswerStore {
  /** Resolves with `undefined` if there is no entry of that name, or one that cannot be understood. */
  get(name: string): Promise<unknown>;
  set(name: string, entry: object): Promise<void>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}
