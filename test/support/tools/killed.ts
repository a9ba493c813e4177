import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Folder } from '../site/folder.ts';

/**
 * A script that kills its process with SIGKILL at a change of the output, of the record or of files beside
 * it. A file that would be renamed next is half written.
 */
const killer = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env.KILLED_AFTER);
const paths = new Map();
const { openSync, writeSync } = fs;

function strike(path, writeHalf) {
  // Locks are left alone: an empty lock counts as another machine's for 30 s.
  if (!/[\\\\/](?:public|dist|static)[\\\\/]|[\\\\/]manifest[^\\\\/]*(?<!lock)$/.test(String(path)) || left-- > 0) return;
  if (/\\.(?:tmp|pack)$/.test(path)) writeHalf?.();
  process.kill(process.pid, 'SIGKILL');
}

fs.openSync = (path, ...more) => {
  const descriptor = openSync(path, ...more);
  paths.set(descriptor, path);
  return descriptor;
};
fs.writeSync = (descriptor, bytes, ...more) => {
  strike(paths.get(descriptor), () => writeSync(descriptor, bytes, 0, bytes.length >> 1));
  return writeSync(descriptor, bytes, ...more);
};
for (const name of ['writeFileSync', 'rmSync', 'renameSync']) {
  const { [name]: original, writeFileSync } = fs;
  fs[name] = (path, given, ...more) => {
    strike(name === 'renameSync' ? given : path, () => writeFileSync(path, given.slice(0, given.length >> 1)));
    return original(path, given, ...more);
  };
}
for (const name of ['writeFile', 'rm', 'rename']) {
  const { [name]: original } = fs.promises;
  fs.promises[name] = (path, given, ...more) => {
    const at = name === 'rename' ? given : path;
    // Astro's own writes to dist do not count.
    if (!/[\\\\/]dist[\\\\/]/.test(String(at))) {
      strike(at, () => fs.writeFileSync(path, given.slice(0, given.length >> 1)));
    }
    return original(path, given, ...more);
  };
}
syncBuiltinESMExports();
`;

/** The environment of a process that is killed after this many changes of `public`, `dist` or a record. */
export async function killedAfter(
  folder: Pick<Folder, 'directory' | 'write'>,
  changes: number,
): Promise<Record<string, string>> {
  await folder.write({ 'killer.mjs': killer });
  const script = pathToFileURL(join(folder.directory, 'killer.mjs'));
  return { KILLED_AFTER: `${changes}`, NODE_OPTIONS: `--import ${script}` };
}
