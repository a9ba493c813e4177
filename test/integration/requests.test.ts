import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';

const ids = Array.from({ length: 50 }, (_, index) => index + 101);
const { service, site, output } = await builtSite(
  Object.fromEntries(ids.map((id) => [id, `<b>content of ${id}</b>`])),
  {
    'src/pages/[page].astro': `---
import { Snippet } from 'astro-snippets/components';
export function getStaticPaths() {
  return Array.from({ length: 20 }, (_, page) => ({ params: { page: String(page) } }));
}
const ids = Array.from({ length: 50 }, (_, index) => ((Number(Astro.params.page) * 5 + index) % 50) + 101);
---
<ul>{ids.map((id) => <li><Snippet id={id} /></li>)}</ul>`,
  },
);

test('a build of 1,000 embeds makes one request for each of 50 snippets, and the same output for any order of answers', async () => {
  expect(output).toContain('50 snippets in 1000 embeds on 20 pages · 50 requests, 0 retries');
  const requests = service.requests();
  expect(requests.map(({ snippetId }) => Number(snippetId)).sort((a, b) => a - b)).toEqual(ids);
  expect(requests.every(({ variant }) => variant === 'render')).toBe(true);
  const items = [136, 137, 138, 139, 140].map((id) => `<li><b>content of ${id}</b></li>`);
  expect(await site.read('7/index.html')).toContain(`<ul>${items.join('')}`);

  const first = await site.texts();
  service.faults.latency = 20;
  expect((await site.build()).exitCode).toBe(0);
  expect(await site.texts()).toEqual(first);
});
