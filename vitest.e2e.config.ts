import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { leftOut } from './test/astro-versions/left-out.ts';

const setup = [
  'test/support/tools/requirements.ts',
  'test/support/service/authority.ts',
  'test/support/http/image-host.ts',
  'test/support/tools/browser.ts',
];

// They measure memory or time, and what is beside them counts.
const alone = ['test/e2e/{failing-ids,large-files}.test.ts', 'test/e2e/promises/memory-of-answers.test.ts'];

/**
 * The tests that build or serve sites, with an installed version of Astro.
 *
 * @param version a folder in test/astro-versions: `5.0` has the lowest version of a major, `5` the newest.
 */
const withAstro = (version: string): TestProjectConfiguration => ({
  extends: true,
  test: {
    name: `astro-${version}`,
    env: { TEST_ASTRO: version },
    globalSetup: [...setup, 'test/astro-versions/install.ts'],
    include: [
      'test/{integration,inlining,loader}/*.test.ts',
      'test/record/collections.test.ts',
      'test/e2e/{integration,dev,everywhere,live,astro-versions}/*.test.ts',
      'test/e2e/components/astro-check.test.ts',
      'test/{promises,e2e/promises}/content-security-policy.test.ts',
      'test/refresh/*.test.ts',
      'test/settings/route-files.test.ts',
      'test/e2e/templates.test.ts',
    ],
    // Needs experimental.incrementalBuild, which is new in Astro 7.
    exclude: ['test/integration/incremental.test.ts', ...Object.keys(leftOut[version] ?? {})],
  },
});

// What needs more than npm, or takes minutes: `npm run test:e2e`. With packages from the registry, and the
// lowest and the newest version of each major of Astro: `npm run test:versions`.
export default defineConfig({
  // package.json names the file in dist, for each platform.
  resolve: { alias: { '#transport': `${import.meta.dirname}/src/client/transport/https.ts` } },
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Most of them wait most of the time.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'e2e',
          globalSetup: setup,
          include: ['test/e2e/**/*.test.ts'],
          exclude: ['test/e2e/astro-versions/**', ...alone],
        },
      },
      // After the others, one file at a time.
      {
        extends: true,
        test: {
          name: 'alone',
          globalSetup: setup,
          include: alone,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      ...['5.0', '5', '6.0', '6', '7.0', '7'].map(withAstro),
    ],
  },
});
