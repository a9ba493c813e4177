import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite } from '../support/site.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>' });
});
afterAll(() => service.close());

test.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s while snippets are fetched ends the build, without a page that holds an embed',
  async ([signal, code]) => {
    const site = await createSite({
      'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
      'src/pages/plain.astro': '<p>Plain</p>',
    });
    service.faults.latency = 3_600_000;
    const build = site.start(['build'], service.environment);
    // Astro says so when a hook takes more than three seconds.
    await expect
      .poll(build.output, { timeout: 20_000 })
      .toContain('Waiting for integration "astro-snippets"');
    const interrupted = performance.now();
    build.process.kill(signal);
    const { exitCode } = await build.ended;
    expect(exitCode).toBe(code);
    expect(performance.now() - interrupted).toBeLessThan(2000);
    expect((await site.list()).filter((name) => name.endsWith('.html'))).toEqual(['plain/index.html']);
    service.mend();
    expect((await site.build(service.environment)).exitCode).toBe(0);
    await site.remove();
  },
);
