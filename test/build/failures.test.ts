import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>', 2: '<b>two</b>', 3: '<b>three</b>' });
  site = await createSite({
    'src/pages/index.astro': '<p>Home <snippet-embed id="1"></snippet-embed></p>',
    'src/pages/pricing.astro': '<p>Price <snippet-embed id="2">ask us</snippet-embed></p>',
    'src/pages/plain.astro': '<p>Plain</p>',
  });
});
afterEach(() => service.mend());
afterAll(async () => {
  await site.remove();
  await service.close();
});

const home = '<p>Home <snippet-embed id="1"></snippet-embed></p>';

async function expectNoEmbedsIn(built: Site) {
  const pages = (await built.list()).filter((name) => name.endsWith('.html'));
  for (const page of pages) expect(await built.read(page)).not.toContain('snippet-embed');
  return pages;
}

test('401: a key that the service does not know', async () => {
  const { exitCode, output } = await site.build({
    ...service.environment,
    SNIPPETS_API_KEY: 'sk_revoked_000000',
  });
  expect(exitCode).toBe(1);
  expect(output).toContain(': 401 Unauthorized');
  expect(output).toContain('The API key is not valid: it is unknown or was revoked.');
  expect(output).toContain('/problems/');
  expect(output).toContain('index.html');
  expect(output).toContain('Check SNIPPETS_API_KEY');
  expect(output).toContain('1 more snippet not asked for');
  expect(output).not.toContain('sk_revoked_000000');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('402: the subscription has ended', async () => {
  service.store.organizations.setSubscription(service.organizationId, 'expired');
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain(': 402 Payment Required');
  expect(output).toContain('The subscription of Test has expired.');
  expect(output).toContain('index.html');
  expect(output).toContain('trial or subscription has ended');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('402 ends the run: what would be answered alike is not asked for', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => index + 1001);
  const other = await createSite({
    'src/pages/index.astro': ids.map((id) => `<p><snippet-embed id="${id}"></snippet-embed></p>`).join('\n'),
  });
  service.store.organizations.setSubscription(service.organizationId, 'expired');
  const before = service.requests().length;
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('99 more snippets not asked for: the answer would have been the same.');
  // As many as may be under way at once, and not a hundred.
  expect(service.requests().length - before).toBeLessThanOrEqual(20);
  await other.remove();
});

test('403: a public key may not render', async () => {
  const { exitCode, output } = await site.build({
    ...service.environment,
    SNIPPETS_API_KEY: service.publicKey,
  });
  expect(exitCode).toBe(1);
  expect(output).toContain('Snippet 1: 403 Forbidden');
  expect(output).toContain('A public API key may not render snippets.');
  expect(output).toContain('on index.html');
  expect(output).toContain('A public key has limited privileges');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test("404: no such snippet, and another organization's; children do not hide it", async () => {
  const other = await createSite({
    'src/pages/index.astro': '<p><snippet-embed id="999">children</snippet-embed></p>',
    'src/pages/theirs.astro': `<p><snippet-embed id="${service.idOfAnotherOrganization}"></snippet-embed></p>`,
    'src/pages/fine.astro': home,
  });
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('Snippet 999: 404 Not Found');
  expect(output).toContain(`Snippet ${service.idOfAnotherOrganization}: 404`);
  expect(output).toContain('on index.html');
  expect(output).toContain('on theirs/index.html');
  expect(output).toContain('Check the id');
  expect(await expectNoEmbedsIn(other)).toEqual([]);
  await other.remove();
});

test('three different failures are reported together, with the faulty embeds', async () => {
  const other = await createSite({
    'src/pages/a.astro': '<p><snippet-embed id="999"></snippet-embed></p>',
    'src/pages/b.astro': '<p>\n<snippet-embed id="2"></snippet-embed></p>',
    'src/pages/c.astro': '<p>\n\n<snippet-embed id="abc"></snippet-embed></p>',
    'src/pages/d.md': 'x\n\n<div><snippet-embed id="1"></div>\n',
    'src/pages/e.astro': `<p><snippet-embed id="3" params='{"a":'></snippet-embed></p>`,
    'src/pages/f.astro': '<p>\n\n\n<snippet-embed id="1" as="xml"></snippet-embed></p>',
    'src/pages/g.html':
      '<p><snippet-embed id="y"></snippet-embed>\n<snippet-embed id="1">\n\n<snippet-embed id="2"></snippet-embed></snippet-embed></p>',
    'src/pages/fine.astro': home,
  });
  Object.assign(service.faults, { failing: 1, failingStatus: 500, only: [2] });
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('2 snippets could not be fetched, and 6 embeds cannot be used.');
  expect(output).toContain('Snippet 999: 404');
  expect(output).toContain('Snippet 2: 500');
  expect(output).toMatch(/c\/index\.html:\d+\n +A snippet's id is a positive whole number, not "abc"\./);
  expect(output).toMatch(/d\/index\.html:\d+\n +The embed has no end: write <\/snippet-embed> after it\./);
  expect(output).toMatch(/e\/index\.html:\d+\n +params is not JSON/);
  expect(output).toMatch(/f\/index\.html:\d+\n +The attribute as of an embed is "html" or "text"\./);
  expect(output).toMatch(
    /g\/index\.html:1\n.*not "y"\.\s+g\/index\.html:4\n +The embed stands inside the one of line 2; close that one first\./,
  );
  expect(await expectNoEmbedsIn(other)).toEqual([]);
  await other.remove();
});

test('5xx: tried again', async () => {
  service.faults.failingNext = 1;
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('3 requests, 1 retry, 0 fallbacks');
  expect(await site.read('index.html')).toContain('<p>Home <b>one</b></p>');
});

test('5xx for good: children take the place, with a warning; without children the build fails', async () => {
  Object.assign(service.faults, { failing: 1, only: [2] });
  const first = await site.build(service.environment);
  expect(first.exitCode).toBe(0);
  expect(first.output).toMatch(
    /\[WARN\] \[astro-snippets\] Snippet 2 could not be retrieved: 503 .*\(5 attempts\)/,
  );
  expect(first.output).toContain('show their children instead, on pricing/index.html.');
  expect(await site.read('pricing/index.html')).toContain('<p>Price ask us</p>');

  service.faults.only = [1, 2];
  const second = await site.build(service.environment);
  expect(second.exitCode).toBe(1);
  expect(second.output).toContain('1 snippet could not be fetched.');
  expect(second.output).toContain('Snippet 1: 503');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('variant B absent: everything comes from A', async () => {
  service.faults.renderAbsent = true;
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('4 requests, 0 retries, 2 fallbacks');
  expect(await site.read('index.html')).toContain('<p>Home <b>one</b></p>');
});

test('more pages than a report should list are counted', async () => {
  const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;
  const other = await createSite({
    'src/pages/a.astro': embed(995) + embed(994) + embed(993),
    'src/pages/b.astro': embed(995) + embed(994) + embed(993),
    'src/pages/c.astro': embed(995) + embed(994) + embed(993),
    'src/pages/d.astro': embed(995) + embed(994),
    'src/pages/e.astro': embed(995),
    // As canonical JSON, of 80 characters and of 81.
    'src/pages/f.astro': [69, 70]
      .map((length) => `<snippet-embed id="992" params='{"text":"${'x'.repeat(length)}"}'></snippet-embed>`)
      .join(''),
  });
  const { output } = await other.build(service.environment);
  const listed = 'on a/index.html, b/index.html, c/index.html';
  expect(output).toMatch(new RegExp(`Snippet 995: [^]*?${listed} and 2 more pages\n`));
  expect(output).toMatch(new RegExp(`Snippet 994: [^]*?${listed} and 1 more page\n`));
  expect(output).toMatch(new RegExp(`Snippet 993: [^]*?${listed}\n`));
  expect(output).toContain(`Snippet 992 {"text":"${'x'.repeat(69)}"}: 404`);
  expect(output).toContain(`Snippet 992 {"text":"${'x'.repeat(70)}…: 404`);
  await other.remove();
});

test('without a key, the error names the variable and a page that needs it', async () => {
  const { SNIPPETS_API_KEY: _, ...environment } = service.environment;
  const { exitCode, output } = await site.build(environment);
  expect(exitCode).toBe(1);
  expect(output).toContain(
    'index.html holds an embed (as do 1 more pages), but SNIPPETS_API_KEY is not set.',
  );
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('without an address, the error names both variables', async () => {
  const { exitCode, output } = await site.build({ SNIPPETS_API_KEY: 'sk_some_key_000000' });
  expect(exitCode).toBe(1);
  expect(output).toContain('Set SNIPPETS_RENDER_BASE_URL, SNIPPETS_RETRIEVE_BASE_URL or both');
});
