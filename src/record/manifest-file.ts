import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectionEntry } from '../failures/places.ts';
import { hasErrorCode } from '../files/read.ts';
import { temporaryFile, writeAtomically } from '../files/write.ts';
import type { EnvironmentFiles } from '../settings/environment.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { Manifest, ManifestFile, RecordedSnippet } from './manifest.ts';
import { missingNote } from './missing-note.ts';
import { removeOtherPacks } from './record-paths.ts';

// Changes with these types: no other version is read.
const manifestVersion = 15;

/** A {@link ManifestFile} as JSON: an array, as the names would be a third of the manifest, and of the time to read it. */
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

const withFolders = (manifest: Manifest, to: (folder: string) => string) => ({
  ...manifest,
  output: to(manifest.output),
  outDir: to(manifest.outDir),
  copies: manifest.copies?.map(to),
});

/** Its `flaw` is the end of a sentence that begins with its name. */
export async function readManifest(file: string): Promise<
  | {
      flaw: string;
      manifest?: never;
    }
  | {
      manifest: {
        output: string;
        outDir: string;
        copies: string[] | undefined;
        builtAt: string;
        inlinedAt: number;
        refreshedAt?: string | undefined;
        urls?: SiteUrls | undefined;
        settings: Pick<
          Settings,
          'renderBaseUrl' | 'retrieveBaseUrl' | 'urlOptions' | 'ca' | 'concurrency' | 'timeout' | 'patience'
        >;
        environment?: EnvironmentFiles | undefined;
        rules: Omit<HtmlRules, 'sanitize'> & {
          sanitizes: boolean;
          editLinks?: string | undefined;
          images?: Settings['images'];
        };
        classes?: readonly string[] | undefined;
        linked?:
          | Readonly<
              Record<
                string,
                {
                  url?: string | undefined;
                  name?: string | undefined;
                }
              >
            >
          | undefined;
        pack?:
          | {
              id: string;
              length: number;
              version: string;
            }
          | undefined;
        snippets: RecordedSnippet[];
        previous?:
          | {
              at: string;
              snippets: (SnippetRequest & {
                hash?: string | undefined;
              })[];
            }
          | undefined;
        files: ManifestFile[];
        collections: (CollectionEntry & {
          snippet: number;
          content: string;
        })[];
        laterIntegrations?: string[] | undefined;
        pending?: true | undefined;
      };
      flaw?: never;
    }
> {
  try {
    const { version: writtenAs, files, ...manifest } = JSON.parse(await readFile(file, 'utf8'));
    if (writtenAs === undefined) return { flaw: 'is damaged' };
    if (writtenAs !== manifestVersion) return { flaw: 'was written by another version of astro-snippets' };
    const fromHere = (path: string) => resolve(dirname(file), path);
    return { manifest: withFolders({ ...manifest, files: files.map(fromFileTuple) }, fromHere) };
  } catch (error) {
    return { flaw: hasErrorCode(error, 'ENOENT') ? 'is missing' : 'is damaged' };
  }
}

/** Removes earlier packs, and the note that there is no manifest. */
export function writeManifest(file: string, manifest: Manifest): void {
  // A known name, as a killed process may have left it.
  const relocated = withFolders(manifest, (path) => relative(dirname(file), path));
  const written = { version: manifestVersion, ...relocated, files: manifest.files.map(toFileTuple) };
  writeAtomically(file, JSON.stringify(written), temporaryFile(file));
  rmSync(missingNote(file), { force: true });
  removeOtherPacks(file, manifest);
}
