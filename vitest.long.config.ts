import { defineConfig } from 'vitest/config';

// What takes minutes, for `npm run test:long`.
export default defineConfig({
  test: {
    include: ['test/long/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
});
