import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite } from '../support/site.ts';

const distinct = 50;
const ids = Array.from({ length: distinct }, (_, index) => index + 101);

let service: TestService;
beforeAll(async () => {
  service = await startTestService(Object.fromEntries(ids.map((id) => [id, `<b>content of ${id}</b>`])));
});
afterAll(() => service.close());

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

test('200 pages of 5 embeds over 50 snippets make exactly 50 requests, all through B', async () => {
  const site = await createSite(files);
  const before = service.requests().length;
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('50 snippets in 1000 embeds on 200 pages · 50 requests, 0 retries, 0 fallbacks');
  const requests = service.requests().slice(before);
  expect(requests).toHaveLength(distinct);
  expect(requests.every(({ variant }) => variant === 'render')).toBe(true);
  expect(new Set(requests.map(({ snippetId }) => snippetId)).size).toBe(distinct);
  expect(await site.read('7/index.html')).toContain(
    '<ul><li><b>content of 136</b></li><li><b>content of 137</b></li><li><b>content of 138</b></li><li><b>content of 139</b></li><li><b>content of 140</b></li></ul>',
  );
  await site.remove();
});

test('the same input gives the same bytes, whatever the order of the answers', async () => {
  const site = await createSite(files);
  const digest = async () => {
    const hash = createHash('sha256');
    for (const name of await site.list())
      hash.update(name).update(await readFile(join(site.directory, 'dist', name)));
    return hash.digest('hex');
  };
  await site.build(service.environment);
  const first = await digest();
  service.faults.latency = 20;
  const { exitCode } = await site.build(service.environment);
  service.mend();
  expect(exitCode).toBe(0);
  expect(await digest()).toBe(first);
  await site.remove();
});
