import { expect, test } from 'vitest';
import { sharedService } from '../../support/site/built-site.ts';
import { temporarySite } from '../../support/site/site.ts';

const service = await sharedService({ 1: 'one', 2: 'two' });

test('astro sync loads a collection whose snippets arrive after those of another collection', async () => {
  const site = await temporarySite({
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      const texts = (id) => defineCollection({ loader: snippetLoader({ only: { id } }) });
      export const collections = { one: texts(1), two: texts(2) };`,
    'src/pages/index.astro': '<p>x</p>',
  });
  let asked = 0;
  const held = service.hold(() => asked++ > 0);
  // The output is needed while it runs.
  const { output, ended } = site.start(['sync'], service.environment);
  const loaded = /1 snippet in the collection (one|two)/g;
  await expect.poll(output).toMatch(loaded);
  held.release();
  const synced = await ended;
  expect(synced.exitCode, synced.output).toBe(0);
  expect(synced.output.match(loaded)).toHaveLength(2);
});
