import { readFile } from 'node:fs/promises';
import { type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant, MutantResult } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { keyOf, wasRun } from './mutants.ts';

/**
 * Lets only drawn mutants through. Stryker's ranges of lines and columns cannot select them, since mutants can be nested.
 */
class DrawnOnly {
  #drawn = new Set<string>();

  async init(): Promise<void> {
    this.#drawn = new Set(JSON.parse(await readFile(process.env['MUTATION_DRAWN'] ?? '', 'utf8')));
  }

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    const check = (mutant: Mutant): CheckResult =>
      this.#drawn.has(keyOf(mutant))
        ? { status: CheckStatus.Passed }
        : { status: CheckStatus.CompileError, reason: 'It was not drawn.' };
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, check(mutant)]));
  }

  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }
}

/** Prints the progress now and then. */
class Progress {
  #run = 0;

  onMutantTested(mutant: MutantResult): void {
    if (!wasRun(mutant)) return;
    this.#run += 1;
    if (this.#run % 20 === 0) process.stdout.write(`${this.#run} tested\n`);
  }
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.Checker, 'drawn-only', DrawnOnly),
  declareClassPlugin(PluginKind.Reporter, 'drawn-only', Progress),
];
