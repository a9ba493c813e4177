import { defineConfig } from 'vitest/config';

// Their client sends requests through msw, and one that was loaded before would go past it.
export const msw: string[] = [
  'test/client/{inputs,outcomes,params,waiting}.test.ts',
  'test/promises/inputs.test.ts',
  'test/testing/*.test.ts',
];

// These look at what is loaded first: Shiki breaks after undici, and an old Node may load neither.
export const alone: string[] = ['test/client/unsupported-node.test.ts', 'test/embed/code-spans.test.ts'];

// What needs a browser, a dev server, or anything but npm is in test/e2e.
export default defineConfig({
  // package.json names the file in dist, for each platform.
  resolve: { alias: { '#transport': `${import.meta.dirname}/src/client/transport/https.ts` } },
  test: {
    globalSetup: ['test/support/service/authority.ts', 'test/support/http/image-host.ts'],
    // For what never ends. They must not fail on a machine that is busy with something else.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    unstubEnvs: true,
    // A worker waits for its builds, its commands and its servers: two do not keep a machine with two cores busy.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ['test/.sites/**', 'test/astro-versions/**', 'test/e2e/**', ...msw, ...alone],
          // A worker keeps what it has loaded, and its process of Astro, for all its files.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'msw', include: msw, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
