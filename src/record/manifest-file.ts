import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { parseCheckedJson, toCheckedJson } from '../files/checked-json.ts';
import { realPathOf } from '../files/paths.ts';
import { hasErrorCode } from '../files/read.ts';
import { temporaryFile, writeAtomically } from '../files/write.ts';
import { cleanText } from '../text/clean-text.ts';
import type { Manifest, RecordedFile } from './manifest.ts';
import { missingNote, removeOtherPacks } from './record-paths.ts';

/**
 * Raise this whenever the recorded fields change, in `Manifest` or in the `HtmlRules`, `Settings` and images
 * that it holds: no test notices. A manifest of another version is not read, so no field is ever missing.
 */
const manifestVersion = 21;

/** Why there is no usable manifest: the end of a sentence that begins with the name of its file. */
export type ManifestFlaw =
  | 'is missing'
  | 'is damaged'
  | 'was written by another version of astro-snippets'
  | `is the record of ${string}`;

/** A manifest, or why it cannot be used. */
export type ManifestReading =
  | { manifest: Manifest; flaw?: undefined }
  | { manifest?: undefined; flaw: ManifestFlaw };

export async function readManifest(file: string): Promise<ManifestReading> {
  try {
    const { document, isWhole } = parseCheckedJson<ManifestDocument>(await readFile(file));
    const { checksum, version, folder, files, ...manifest } = document;
    if (!Number.isInteger(version)) return { flaw: 'is damaged' };
    if (version !== manifestVersion) return { flaw: 'was written by another version of astro-snippets' };
    if (!isWhole) return { flaw: 'is damaged' };
    const owner = findOtherOwner(file, folder, manifest.output);
    if (owner !== undefined) return { flaw: `is the record of ${cleanText(owner)}` };
    const fromManifest = (path: string) => resolve(dirname(file), path);
    return { manifest: withFolders({ ...manifest, files: files.map(fromFileTuple) }, fromManifest) };
  } catch (error) {
    return { flaw: hasErrorCode(error, 'ENOENT') ? 'is missing' : 'is damaged' };
  }
}

/** Writes a manifest. Removes earlier packs (generated pages), and the note on a missing manifest. */
export function writeManifest(file: string, manifest: Manifest): void {
  const relocated = withFolders(manifest, (path) => relative(dirname(file), path));
  const files = manifest.files.map(toFileTuple);
  const document = { version: manifestVersion, folder: resolve(dirname(file)), ...relocated, files };
  // The temporary file has a fixed name, so that the next write replaces one that a killed process left.
  writeAtomically(file, toCheckedJson(document), temporaryFile(file));
  rmSync(missingNote(file), { force: true });
  removeOtherPacks(file, manifest.pack?.id);
}

/** The contents of a manifest's file. */
interface ManifestDocument extends Omit<Manifest, 'files'> {
  checksum: number;
  version: number;
  /** The manifest's folder, by the path that its writer took: the output's path is relative to that one. */
  folder: string;
  files: FileTuple[];
}

/**
 * Finds the output of another project that a manifest is about: two projects share a folder through a symbolic
 * link, as worktrees share `node_modules`, and the other one has written last. A moved or copied project is not
 * another one, as the path that its writer took no longer leads to this folder.
 */
function findOtherOwner(file: string, writtenFrom: string, output: string): string | undefined {
  const folder = dirname(file);
  if (writtenFrom === folder || realPathOf(writtenFrom) !== realPathOf(folder)) return undefined;
  const owner = realPathOf(resolve(writtenFrom, output));
  return owner === realPathOf(resolve(folder, output)) ? undefined : owner;
}

/** Converts the folders of a manifest, which are relative paths in its file and absolute in memory. */
function withFolders(manifest: Manifest, convert: (folder: string) => string): Manifest {
  const { output, outputCopies } = manifest;
  return {
    ...manifest,
    output: convert(output),
    outputCopies: outputCopies?.map(convert),
  };
}

/** A {@link RecordedFile} as a JSON array: field names would add half to its size and reading time. */
type FileTuple = readonly [
  name: string,
  hash: string,
  shows: number[],
  packOffset: number,
  packLength: number,
  size: number,
  modifiedAt: number,
  more: Partial<RecordedFile>,
];

function toFileTuple(file: RecordedFile): FileTuple {
  const { name, hash, shows, packOffset, packLength, size, modifiedAt, ...more } = file;
  return [name, hash, shows, packOffset, packLength, size, modifiedAt, more];
}

function fromFileTuple(tuple: FileTuple): RecordedFile {
  const [name, hash, shows, packOffset, packLength, size, modifiedAt, more] = tuple;
  return { name, hash, shows, packOffset, packLength, size, modifiedAt, ...more };
}
