import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { onTestFinished } from 'vitest';

/** A project without Astro: a folder outside any other project. */
export interface Folder {
  directory: string;
  write(files: Record<string, string | Buffer>): Promise<void>;
  read(name: string): Promise<string>;
  /** The names of all files, with forward slashes, sorted. */
  list(below?: string): Promise<string[]>;
  /** The texts of all files, by name. */
  files(below?: string): Promise<Record<string, string>>;
  remove(): Promise<void>;
}

/** Creates a folder with these files. @param prefix the start of the folder's path. */
export async function createFolder(
  files: Record<string, string | Buffer>,
  prefix = join(tmpdir(), 'snippets-folder-'),
): Promise<Folder> {
  const folder = folderAt(await mkdtemp(prefix));
  await folder.write(files);
  return folder;
}

/** A folder that is there already. */
export function folderAt(directory: string): Folder {
  const folder: Folder = {
    directory,
    async write(more) {
      for (const [name, content] of Object.entries(more)) {
        const file = join(directory, name);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content);
      }
    },
    read: (name) => readFile(join(directory, name), 'utf8'),
    async list(below = '.') {
      const root = join(directory, below);
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
        .sort();
    },
    async files(below = '.') {
      const read = async (name: string) => [name, await folder.read(join(below, name))] as const;
      return Object.fromEntries(await Promise.all((await folder.list(below)).map(read)));
    },
    // A build that has failed may still write a file.
    remove: () => rm(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
  return folder;
}

/** Creates a folder that is removed when the running test ends. */
export async function folderWith(files: Record<string, string | Buffer>): Promise<Folder> {
  const folder = await createFolder(files);
  onTestFinished(() => folder.remove());
  return folder;
}
