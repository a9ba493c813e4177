import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeManifest } from '../../src/record/manifest.ts';
import { manifestFile } from '../../src/record/manifest-file.ts';
import { startCommand } from '../support/command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-dead-'));
});
afterAll(() => rm(folder, { recursive: true }));

test.for([1, 4, 30])(
  '`check` of %i snippets says within 5 s that a port refuses connections, and gives up within 20 s',
  async (count) => {
    const file = manifestFile({ cacheDir: join(folder, 'node_modules/.astro'), root: '', outDir: 'dist' });
    await writeManifest(file, {
      builtAt: '2030-01-02T03:04:05.000Z',
      output: '../dist',
      settings: { concurrency: 20 },
      rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
      snippets: Array.from({ length: count }, (_, index) => ({ id: index + 1 })),
      kinds: Array.from({ length: count }, (_, snippet) => ({
        snippet,
        form: { as: 'html', layers: [] },
        length: 0,
      })),
      collections: [],
      files: [
        {
          name: 'index.html',
          hash: '',
          places: Array.from({ length: count }, (_, kind) => [kind, 0]).flat(),
        },
      ],
    });
    const start = performance.now();
    const command = startCommand(folder, ['check'], {
      SNIPPETS_API_KEY: 'sk_of_a_dead_service',
      // Where nothing listens.
      SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9',
    });
    let saidAfter = Number.POSITIVE_INFINITY;
    command.process.stderr?.on('data', (text) => {
      if (String(text).includes('ECONNREFUSED')) saidAfter = Math.min(saidAfter, performance.now() - start);
    });
    const { exitCode, output } = await command.ended;
    const seconds = (performance.now() - start) / 1000;
    expect(exitCode).toBe(1);
    expect(saidAfter).toBeLessThan(5_000);
    expect(seconds).toBeLessThan(20);
    expect(output).toContain(
      count === 1 ? '1 snippet could not be fetched.' : `${count} snippets could not be fetched.`,
    );
    if (count >= 5) {
      expect(output).toContain(
        'The service at https://127.0.0.1:9 cannot be reached: connect ECONNREFUSED 127.0.0.1:9. It is asked again until it responds.',
      );
    }
  },
);
