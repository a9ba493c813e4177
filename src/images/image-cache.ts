import { hash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeAtomically } from '../write-atomically.ts';

// As image-file.ts makes them.
const fileName = /^[a-z0-9-]+\.([0-9a-f]{20})\.[a-z]+$/;

const entrySchema = z.object({
  url: z.string(),
  file: z.string().regex(fileName),
  width: z.int().min(1),
  height: z.int().min(1),
  /** Of the bytes, in full: a file that was cut off or changed counts as absent. */
  sha256: z.string(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
  /** When its host last sent it, or said that it has not changed; in milliseconds since the epoch. */
  fetchedAt: z.int().min(0),
  /** Until when it may be used without asking. */
  freshUntil: z.int().min(0),
});

/** What is kept of an image besides its bytes. */
export type ImageEntry = z.infer<typeof entrySchema>;

export interface CachedImage {
  entry: ImageEntry;
  bytes: Uint8Array;
}

/** Keeps images as files in a folder. What cannot be read counts as absent, and what cannot be written is not kept. */
export class ImageCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(url: string): Promise<CachedImage | undefined> {
    try {
      const entry = entrySchema.parse(JSON.parse(await readFile(this.#entryFile(url), 'utf8')));
      const bytes = await readFile(join(this.#folder, entry.file));
      return entry.url === url && hash('sha256', bytes) === entry.sha256 ? { entry, bytes } : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * The bytes of an image by its name, which is that of its content: what its URL has become since does not matter.
   *
   * @param file may be any text, such as one from a request.
   */
  async readFile(file: string): Promise<Uint8Array | undefined> {
    const [, start] = fileName.exec(file) ?? [];
    if (start === undefined) return undefined;
    try {
      const bytes = await readFile(join(this.#folder, file));
      return hash('sha256', bytes).startsWith(start) ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /** @returns whether it is kept, so that its bytes can be read again. */
  async write({ entry, bytes }: CachedImage): Promise<boolean> {
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeAtomically(join(this.#folder, entry.file), Buffer.from(bytes));
    } catch {
      return false;
    }
    return this.confirm(entry);
  }

  /** Writes what is known of an image whose bytes are kept already. @returns whether it is. */
  async confirm(entry: ImageEntry): Promise<boolean> {
    try {
      await writeAtomically(this.#entryFile(entry.url), JSON.stringify(entry));
      return true;
    } catch {
      return false;
    }
  }

  #entryFile(url: string): string {
    return join(this.#folder, `${hash('sha256', url)}.json`);
  }
}
