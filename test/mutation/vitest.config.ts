import { matchesGlob } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import settings, { alone, msw } from '../../vitest.config.ts';

// For `npm run test:mutation`, which names the tests near the mutants.
const files: string[] = JSON.parse(process.env['MUTATION_TESTS'] ?? '[]');
const isIsolated = (file: string) => [...msw, ...alone].some((pattern) => matchesGlob(file, pattern));

/** By name, so that test/promises, which takes longer, comes after the unit tests. */
class ByName extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    return [...specifications].sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
  }
}

export default defineConfig({
  resolve: settings.resolve ?? {},
  test: {
    setupFiles: ['test/mutation/setup.ts'],
    globalSetup: 'test/support/service/authority.ts',
    sequence: { sequencer: ByName },
    unstubEnvs: true,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: files.filter((file) => !isIsolated(file)), isolate: false },
      },
      { extends: true, test: { name: 'isolated', include: files.filter(isIsolated) } },
    ],
  },
});
