import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { Mutant, MutantResult } from '@stryker-mutator/api/core';
import type { Logger } from '@stryker-mutator/api/logging';
import { Instrumenter } from '@stryker-mutator/instrumenter';

/** Identifies a mutant among all mutants of the same source. */
export function keyOf({ fileName, location: { start, end }, mutatorName, replacement }: Mutant): string {
  const place = [start.line, start.column, end.line, end.column];
  return [relative('.', fileName), ...place, mutatorName, replacement].join(' ');
}

/** Whether a mutant was drawn, so that tests ran with it. */
export function wasRun({ status }: MutantResult): boolean {
  return status !== 'CompileError';
}

/** All mutants that Stryker makes from these files. */
export async function listMutants(files: readonly string[]): Promise<readonly Mutant[]> {
  const read = files.map(async (file) => ({
    name: resolve(file),
    content: await readFile(file, 'utf8'),
    mutate: true,
  }));
  // Every method does nothing and returns false.
  const silent = new Proxy({}, { get: () => () => false }) as Logger;
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  return (await new Instrumenter(silent).instrument(await Promise.all(read), options)).mutants;
}

/** Draws the same mutants for the same source and seed. A mutant's rank depends only on itself and the seed. */
export function draw(mutants: readonly Mutant[], count: number, seed: string): Mutant[] {
  const ranked = mutants.map((mutant) => ({
    mutant,
    rank: createHash('sha256')
      .update(`${seed} ${keyOf(mutant)}`)
      .digest('hex'),
  }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}
