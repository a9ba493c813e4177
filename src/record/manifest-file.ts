import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { hasErrorCode } from '../files/read.ts';
import { temporaryFile, writeAtomically } from '../files/write.ts';
import type { Manifest, ManifestFile } from './manifest.ts';
import { missingNote, removeOtherPacks } from './record-paths.ts';

/** Changes whenever the types of a manifest change. A manifest of another version is not read. */
const manifestVersion = 15;

/** Why there is no usable manifest: the end of a sentence that begins with the name of its file. */
export type ManifestFlaw = 'is missing' | 'is damaged' | 'was written by another version of astro-snippets';

/** A manifest, or why it cannot be used. */
export type ManifestReading =
  | { manifest: Manifest; flaw?: undefined }
  | { manifest?: undefined; flaw: ManifestFlaw };

export async function readManifest(file: string): Promise<ManifestReading> {
  try {
    const { version, files, ...manifest } = JSON.parse(await readFile(file, 'utf8'));
    if (version === undefined) return { flaw: 'is damaged' };
    if (version !== manifestVersion) return { flaw: 'was written by another version of astro-snippets' };
    const fromManifest = (path: string) => resolve(dirname(file), path);
    return { manifest: withFolders({ ...manifest, files: files.map(fromFileTuple) }, fromManifest) };
  } catch (error) {
    return { flaw: hasErrorCode(error, 'ENOENT') ? 'is missing' : 'is damaged' };
  }
}

/** Writes a manifest. Removes the packs of earlier ones, and the note that there is none. */
export function writeManifest(file: string, manifest: Manifest): void {
  const relocated = withFolders(manifest, (path) => relative(dirname(file), path));
  const document = { version: manifestVersion, ...relocated, files: manifest.files.map(toFileTuple) };
  // With a fixed name, the next write replaces a temporary file that a killed process has left.
  writeAtomically(file, JSON.stringify(document), temporaryFile(file));
  rmSync(missingNote(file), { force: true });
  removeOtherPacks(file, manifest.pack?.id);
}

/** Changes the paths of the folders, which are relative in the file and absolute elsewhere. */
function withFolders(manifest: Manifest, convert: (folder: string) => string): Manifest {
  const { output, outDir, copies } = manifest;
  return { ...manifest, output: convert(output), outDir: convert(outDir), copies: copies?.map(convert) };
}

/** A {@link ManifestFile} in JSON. Names of fields would be a third of it, and of the time to read it. */
type FileTuple = readonly [
  name: string,
  hash: string,
  shows: number[],
  packOffset: number,
  packLength: number,
  size: number,
  modifiedAt: number,
  more: Partial<ManifestFile>,
];

function toFileTuple(file: ManifestFile): FileTuple {
  const { name, hash, shows, packOffset, packLength, size, modifiedAt, ...more } = file;
  return [name, hash, shows, packOffset, packLength, size, modifiedAt, more];
}

function fromFileTuple(tuple: FileTuple): ManifestFile {
  const [name, hash, shows, packOffset, packLength, size, modifiedAt, more] = tuple;
  return { name, hash, shows, packOffset, packLength, size, modifiedAt, ...more };
}
