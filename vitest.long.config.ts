import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

const patience = { testTimeout: 300_000, hookTimeout: 300_000 };

/** The tests that build or serve sites, with an older version of Astro. */
const olderAstro = (version: number): TestProjectConfiguration => ({
  test: {
    ...patience,
    name: `astro-${version}`,
    env: { TEST_ASTRO: String(version) },
    globalSetup: [`test/long/astro-versions/install-${version}.ts`],
    include: [
      'test/{build,content,dev,everywhere}/*.test.ts',
      'test/types/{astro-check,collection}.test.ts',
      'test/promises/content-security-policy.test.ts',
      'test/publish/refresh.test.ts',
      'test/long/astro-versions/*.test.ts',
      'test/long/templates.test.ts',
    ],
    // Astro 7 alone has experimental.incrementalBuild; package.test.ts packs a package of its own.
    exclude: ['test/build/{incremental,package}.test.ts'],
  },
});

// Installs what is not in node_modules, from the registry.
const installs = ['test/long/{astro-add,pnpm}.test.ts'];

// What takes minutes: `npm run test:long`. With packages from the registry, and older versions of Astro among them:
// `npm run test:versions`.
export default defineConfig({
  test: {
    // Some tests measure memory, and what is beside them counts.
    maxWorkers: 1,
    projects: [
      {
        test: {
          ...patience,
          name: 'long',
          include: ['test/long/*.test.ts'],
          exclude: installs,
        },
      },
      { test: { ...patience, name: 'installs', include: installs } },
      olderAstro(5),
      olderAstro(6),
    ],
  },
});
