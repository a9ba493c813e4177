import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

const pages = 5_000;
let service: TestService;
let site: Site;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>everywhere</b>', 2: 'on every five hundredth' });
  site = await createSite({
    'src/pages/[page].astro': `---
import { Snippet } from 'astro-snippets/components';
export function getStaticPaths() {
  return Array.from({ length: ${pages} }, (_, page) => ({ params: { page: String(page) } }));
}
const holdsBoth = Number(Astro.params.page) % 500 === 0;
---
<p><Snippet id={1} /></p>{holdsBoth && <p><Snippet id={2} /></p>}<i>{Astro.params.page}</i>`,
  });
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

test('a refresh of 5,000 pages writes the ten with a changed snippet, to the same bytes as a full build', async () => {
  expect((await site.build(service.environment)).exitCode).toBe(0);
  service.put(2, '<section>changed</section>');
  const { exitCode, output } = await startCommand(site.directory, ['refresh'], service.environment).ended;
  expect(exitCode).toBe(0);
  expect(output.trim().split('\n')).toHaveLength(10);

  const [dist, refreshed] = [join(site.directory, 'dist'), join(site.directory, 'refreshed')];
  await cp(dist, refreshed, { recursive: true });
  await rm(dist, { recursive: true });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  expect(await site.list()).toHaveLength(pages);
  for (const name of await site.list()) {
    const [expected, actual] = await Promise.all(
      [dist, refreshed].map((folder) => readFile(join(folder, name))),
    );
    expect(actual?.equals(expected ?? Buffer.of()), name).toBe(true);
  }
  expect(await site.list('refreshed')).toEqual(await site.list());
});
