import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeOtherPacks } from './record-paths.ts';

/** A file beside the place of a manifest that says, as a sentence, why there is none. Commands print it. */
export const missingNote = (manifest: string): string => `${manifest}.missing`;

/**
 * Notes why there is no manifest.
 *
 * @param why a sentence, or the error of a build, whose beginning is noted
 */
export function noteMissing(manifest: string, why: string | Error): void {
  const note = typeof why === 'string' ? why : `The last build failed: ${summaryOf(why)}`;
  mkdirSync(dirname(manifest), { recursive: true });
  writeFileSync(missingNote(manifest), note);
}

/** Removes a manifest and its pages, and notes why. */
export function removeManifest(manifest: string, why: string | Error): void {
  rmSync(manifest, { force: true });
  removeOtherPacks(manifest);
  noteMissing(manifest, why);
}

/** The first lines of the first two paragraphs: the headline of a report, and its first failure. */
function summaryOf({ message }: Error): string {
  const lines = message.split('\n\n', 2).map((paragraph) => paragraph.split('\n', 1)[0]);
  return lines.filter(Boolean).join(' ').replace(/\.?$/, '.');
}
