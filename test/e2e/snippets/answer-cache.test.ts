import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createRequest } from '../../../src/client/snippet-request.ts';
import { AnswerCache } from '../../../src/snippets/answer-cache.ts';
import { startRedis } from '../../support/http/redis.ts';
import { settingsWith } from '../../support/service/answers.ts';
import { sharedService } from '../../support/site/built-site.ts';
import { folderWith } from '../../support/site/folder.ts';
import { configWith, temporarySite } from '../../support/site/site.ts';

const ids = Array.from({ length: 30 }, (_, index) => index + 1);
const files = {
  'astro.config.mjs': configWith(
    "{ cache: { driver: 'redis', options: { url: process.env.REDIS_URL }, maxAge: '1h' } }",
  ),
  'src/pages/index.html': ids.map((id) => `<p><snippet-embed id="${id}"></snippet-embed></p>`).join('\n'),
};
// Redis does not run on Windows.
const noRedis = process.platform === 'win32';

const service = await sharedService(Object.fromEntries(ids.map((id) => [id, `content ${id}`])));

/** Builds the site as another machine would. */
async function machine(url: string) {
  const site = await temporarySite(files);
  const build = async () => {
    const output = await site.builds({ ...service.environment, REDIS_URL: url });
    expect(await site.read('index.html')).toContain('<p>content 30</p>');
    return output;
  };
  return { site, build };
}

const warning = /The snippet cache failed and is not used for this run: /g;

test.skipIf(noRedis)('builds on two machines with one Redis fetch each snippet once', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.kill());
  const [first, second] = [await machine(redis.url), await machine(redis.url)];
  await first.build();
  expect(await second.build()).toContain(
    '30 snippets in 30 embeds on 1 page · 0 requests, 0 retries · 30 from the cache',
  );
  expect(await second.site.read('index.html')).toBe(await first.site.read('index.html'));
  const asked = service.requests().map(({ snippetId }) => Number(snippetId));
  expect(asked.sort((a, b) => a - b)).toEqual(ids);
});

test.skipIf(noRedis)('a build succeeds with one warning if Redis stops while it fetches', async () => {
  const doomed = await startRedis();
  const { build } = await machine(doomed.url);
  const held = service.hold();
  const building = build();
  // Answers to requests in progress can no longer be stored.
  await held.asked();
  await doomed.kill();
  held.release();
  const output = await building;
  expect(output.match(warning)).toHaveLength(1);
  expect(output).not.toContain('ioredis');
});

test('a build succeeds with one warning if Redis cannot be reached, and its password is not shown', async () => {
  const { build } = await machine('redis://:s3cret-passw0rd@127.0.0.1:9');
  const output = await build();
  expect(output.match(warning)).toHaveLength(1);
  expect(output).not.toContain('s3cret');
});

test('the cache is still used if the process blocks for seconds while it reads 200 files', async () => {
  const folder = await folderWith({});
  const requests = Array.from({ length: 200 }, (_, index) => createRequest(index + 1));
  const warnings: string[] = [];
  const open = () => {
    const cache = { driver: undefined, options: undefined, maxAge: 60_000 };
    return new AnswerCache(folder.directory, cache, settingsWith(), (line) => warnings.push(line));
  };
  const filled = open();
  for (const request of requests) {
    filled.write(request, { content: request.key, variant: 'render', fetchedAt: Date.now() });
  }
  await filled.close();
  const kept = open();
  onTestFinished(() => kept.close());
  const reading = Promise.all(requests.map((request) => kept.read(request)));
  // Blocks the event loop with short breaks, as Vite does when it bundles.
  for (let pause = 0; pause < 2; pause++) {
    await setImmediate();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200);
  }
  expect((await reading).map((answer) => answer?.content)).toEqual(requests.map(({ key }) => key));
  expect(warnings).toEqual([]);
});
