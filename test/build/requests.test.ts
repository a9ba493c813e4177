import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { type BuildResult, createSite, type Site } from '../support/site.ts';

const distinct = 50;
const ids = Array.from({ length: distinct }, (_, index) => index + 101);

const files = {
  'src/pages/[page].astro': `---
import { Snippet } from 'astro-snippets/components';
export function getStaticPaths() {
  return Array.from({ length: 200 }, (_, page) => ({ params: { page: String(page) } }));
}
const ids = Array.from({ length: 5 }, (_, index) => ((Number(Astro.params.page) * 5 + index) % ${distinct}) + 101);
---
<ul>{ids.map((id) => <li><Snippet id={id} /></li>)}</ul>`,
};

let service: TestService;
let site: Site;
let built: BuildResult;
beforeAll(async () => {
  service = await startTestService(Object.fromEntries(ids.map((id) => [id, `<b>content of ${id}</b>`])));
  site = await createSite(files);
  built = await site.build(service.environment);
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

test('a build makes one request per distinct snippet, for 1000 embeds of 50 snippets', async () => {
  const { exitCode, output } = built;
  expect(exitCode).toBe(0);
  expect(output).toContain('50 snippets in 1000 embeds on 200 pages · 50 requests, 0 retries, 0 fallbacks');
  const requests = service.requests();
  expect(requests).toHaveLength(distinct);
  expect(requests.every(({ variant }) => variant === 'render')).toBe(true);
  expect(new Set(requests.map(({ snippetId }) => snippetId)).size).toBe(distinct);
  expect(await site.read('7/index.html')).toContain(
    '<ul><li><b>content of 136</b></li><li><b>content of 137</b></li><li><b>content of 138</b></li><li><b>content of 139</b></li><li><b>content of 140</b></li></ul>',
  );
});

test('the output of a build is the same in whatever order the answers arrive', async () => {
  const digest = async () => {
    const hash = createHash('sha256');
    for (const name of await site.list())
      hash.update(name).update(await readFile(join(site.directory, 'dist', name)));
    return hash.digest('hex');
  };
  const first = await digest();
  service.faults.latency = 20;
  const { exitCode } = await site.build(service.environment);
  service.clearFaults();
  expect(exitCode).toBe(0);
  expect(await digest()).toBe(first);
});
