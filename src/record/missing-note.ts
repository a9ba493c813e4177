import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeOtherPacks } from './record-paths.ts';

/** A file that says, as a sentence, why there is no manifest. */
export const missingNote = (manifest: string) => `${manifest}.missing`;

/** @param why a sentence, or the error of a build, whose beginning is noted */
export function noteMissing(manifest: string, why: string | Error): void {
  const note = typeof why === 'string' ? why : `The last build failed: ${startOf(why)}`;
  mkdirSync(dirname(manifest), { recursive: true });
  writeFileSync(missingNote(manifest), note);
}

/** Removes a manifest and its pages, and notes why. */
export function removeManifest(manifest: string, why: string | Error): void {
  rmSync(manifest, { force: true });
  removeOtherPacks(manifest);
  noteMissing(manifest, why);
}

function startOf({ message }: Error) {
  const lines = message.split('\n\n', 2).map((paragraph) => paragraph.split('\n', 1)[0]);
  return lines.filter(Boolean).join(' ').replace(/\.?$/, '.');
}
