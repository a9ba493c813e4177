import { expect, test } from 'vitest';
import { outputs } from '../../docs/outputs.ts';
import { fillPage, generatedParts, pages, readPage } from '../../docs/pages.ts';

const parts = pages.flatMap((page) => generatedParts(readPage(page)));

test.each(Object.entries(outputs))(
  'the docs show the real output of %s (npm run docs updates it)',
  async (_, run) => {
    const texts = await run();
    for (const page of pages) expect(readPage(page)).toBe(fillPage(readPage(page), texts));
    for (const name of texts.keys()) expect(parts).toContain(name);
  },
);
