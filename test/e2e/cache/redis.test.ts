import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Redis, startRedis } from '../../support/redis.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createSite, type Site } from '../../support/site.ts';

const ids = Array.from({ length: 30 }, (_, index) => index + 1);
const files = {
  'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({
  integrations: [snippets({ cache: { driver: 'redis', options: { url: process.env.REDIS_URL }, maxAge: '1h' } })],
});`,
  'src/pages/index.html': ids.map((id) => `<p><snippet-embed id="${id}"></snippet-embed></p>`).join('\n'),
};
// Redis does not run on Windows.
const noRedis = process.platform === 'win32';
let service: TestService;
let redis: Redis | undefined;
const machines: Site[] = [];

beforeAll(async () => {
  service = await startTestService(Object.fromEntries(ids.map((id) => [id, `content ${id}`])));
  if (!noRedis) redis = await startRedis();
});
afterAll(async () => {
  for (const site of machines) await site.remove();
  await redis?.kill();
  await service.close();
});

async function machine(): Promise<Site> {
  const site = await createSite(files);
  machines.push(site);
  return site;
}

test.skipIf(noRedis)('builds on two machines with one Redis fetch each snippet once', async () => {
  const environment = { ...service.environment, REDIS_URL: redis?.url ?? '' };
  const first = await machine();
  const second = await machine();
  expect((await first.build(environment)).exitCode).toBe(0);
  const { exitCode, output } = await second.build(environment);
  expect(exitCode).toBe(0);
  expect(output).toContain(
    '30 snippets in 30 embeds on 1 page · 0 requests, 0 retries, 0 fallbacks · 30 from the cache',
  );
  expect(await second.read('index.html')).toBe(await first.read('index.html'));
  expect(await first.read('index.html')).toContain('<p>content 30</p>');
  const asked = service.requests().map(({ snippetId }) => Number(snippetId));
  expect(asked.sort((a, b) => a - b)).toEqual(ids);
});

test.skipIf(noRedis)('a build succeeds with one warning if Redis stops while it fetches', async () => {
  const doomed = await startRedis();
  const site = await machine();
  Object.assign(service.faults, { latency: 300 });
  const before = service.requests().length;
  const build = site.build({ ...service.environment, REDIS_URL: doomed.url });
  // The first requests are in progress, so their answers can no longer be stored.
  await expect
    .poll(() => service.faults.latency && service.requests().length > before, {
      timeout: 60_000,
      interval: 20,
    })
    .toBe(true);
  await doomed.kill();
  const { exitCode, output } = await build;
  service.clearFaults();
  expect(exitCode).toBe(0);
  expect(output.match(/The snippet cache failed and is not used for this run: /g)).toHaveLength(1);
  expect(output).not.toContain('ioredis');
  expect(await site.read('index.html')).toContain('<p>content 30</p>');
});

test('a build succeeds with one warning if Redis cannot be reached, and its password is not shown', async () => {
  const site = await machine();
  const { exitCode, output } = await site.build({
    ...service.environment,
    REDIS_URL: 'redis://:s3cret-passw0rd@127.0.0.1:9',
  });
  expect(exitCode).toBe(0);
  expect(output.match(/The snippet cache failed and is not used for this run: /g)).toHaveLength(1);
  expect(output).not.toContain('s3cret');
});
