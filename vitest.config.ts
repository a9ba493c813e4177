import { defineConfig } from 'vitest/config';

// Those with msw replace what the process uses for requests, and a client that was loaded before would go past them.
// Shiki, in code-spans, breaks where undici was loaded before.
export const isolated: string[] = [
  'test/client/{inputs,outcomes,params,unsupported-node,waiting}.test.ts',
  'test/embed/code-spans.test.ts',
  'test/promises/inputs.test.ts',
  'test/testing/*.test.ts',
];

// What needs a browser, a dev server, or anything but npm is in test/e2e.
export default defineConfig({
  test: {
    globalSetup: ['test/support/authority.ts', 'test/support/image-host.ts'],
    // Building a site takes seconds, and two at a time is what a small machine bears. The limits are for what never ends:
    // they must not fail on a machine that is busy with something else.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    unstubEnvs: true,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ['test/.sites/**', 'test/astro-versions/**', 'test/e2e/**', ...isolated],
          // A worker keeps what it has loaded, and its process of Astro, for all its files.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
});
