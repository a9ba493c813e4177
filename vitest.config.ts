import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'test/support/authority.ts',
    include: ['test/**/*.test.ts'],
    exclude: ['test/.sites/**', 'test/long/**'],
    // Building a site takes seconds, and two at a time is what a small machine bears. The limits are for what never ends:
    // they must not fail on a machine that is busy with something else.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    // A worker that has loaded the service, the client and Astro's process keeps them for all its files.
    isolate: false,
  },
});
