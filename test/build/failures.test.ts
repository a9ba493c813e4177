import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { byAstro } from '../support/installation.ts';
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
afterEach(() => service.clearFaults());
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

test('401: an unknown API key fails the build with one report', async () => {
  const { exitCode, output } = await site.build({
    ...service.environment,
    SNIPPETS_API_KEY: 'sk_revoked_000000',
  });
  expect(exitCode).toBe(1);
  expect(output).toContain(': 401 Unauthorized [unauthorized]');
  expect(output).toContain('The API key is not valid: it is unknown or was revoked.');
  expect(output).toContain('/problems/');
  expect(output).toContain('index.html');
  expect(output).toContain('unauthorized: Check SNIPPETS_API_KEY: the service does not know this key.');
  expect(output).toContain('1 more snippet would fail the same way.');
  expect(output).not.toContain('sk_revoked_000000');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('402: an expired subscription fails the build with one report', async () => {
  service.store.organizations.setSubscription(service.organizationId, 'expired');
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain(': 402 Payment Required [payment-required]');
  expect(output).toContain('The subscription of Test has expired.');
  expect(output).toContain('index.html');
  expect(output).toContain("The organization's free trial or subscription has expired.");
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('402 ends the run: no more requests are made, and the other snippets are counted', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => index + 1001);
  const other = await createSite({
    'src/pages/index.astro': ids.map((id) => `<p><snippet-embed id="${id}"></snippet-embed></p>`).join('\n'),
  });
  service.store.organizations.setSubscription(service.organizationId, 'expired');
  const before = service.requests().length;
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('99 more snippets would fail the same way.');
  // As many as may be in progress at once.
  expect(service.requests().length - before).toBeLessThanOrEqual(20);
  await other.remove();
});

test('a proxy that cannot be used fails the build with one report, without its value, and no page is left', async () => {
  const { exitCode, output } = await site.build({
    ...service.environment,
    HTTPS_PROXY: 'http://user:secret%zz@proxy.example',
  });
  expect(exitCode).toBe(1);
  expect(output).toContain('the environment variable HTTPS_PROXY is not the URL of a proxy');
  expect(output).toContain('[invalid-options]');
  expect(output).toContain('invalid-options: Fix the value in the config or in the environment.');
  expect(output).not.toContain('secret');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('403: a public key fails the build, as it may not render', async () => {
  const { exitCode, output } = await site.build({
    ...service.environment,
    SNIPPETS_API_KEY: service.publicKey,
  });
  expect(exitCode).toBe(1);
  expect(output).toContain('Snippet 1: 403 Forbidden [forbidden]');
  expect(output).toContain('A public API key may not render snippets.');
  expect(output).toContain('on index.html');
  expect(output).toContain('Use a secret key: a public one has limited privileges.');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test("404: an unknown snippet and another organization's fail the build, even with children", async () => {
  const other = await createSite({
    'src/pages/index.astro': '<p><snippet-embed id="999">children</snippet-embed></p>',
    'src/pages/theirs.astro': `<p><snippet-embed id="${service.idOfAnotherOrganization}"></snippet-embed></p>`,
    'src/pages/fine.astro': home,
  });
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('Snippet 999: 404 Not Found [not-found]');
  expect(output).toContain(`Snippet ${service.idOfAnotherOrganization}: 404 Not Found [not-found]`);
  expect(output).toContain('on index.html');
  expect(output).toContain('on theirs/index.html');
  expect(output).toContain('Check the id');
  expect(await expectNoEmbedsIn(other)).toEqual([]);
  await other.remove();
});

// Remark, which older versions of Astro use for Markdown, writes every end tag that is missing.
const closesEmbeds = byAstro({ 5: true, 6: true, 7: false });

test('different failures and invalid embeds are reported together', async () => {
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
  expect(output).toContain(
    `2 snippets could not be fetched, and ${closesEmbeds ? 5 : 6} embeds are invalid.`,
  );
  expect(output).toContain('Snippet 999: 404 Not Found [not-found]');
  expect(output).toContain('Snippet 2: 500 Internal Server Error [server-error]');
  expect(output).toMatch(
    /c\/index\.html:\d+\n +A snippet id must be a positive whole number, not "abc"\. \[invalid-id\]/,
  );
  const unclosed = /d\/index\.html:\d+\n +The embed has no end tag\. \[embed-unclosed\]/;
  if (closesEmbeds) expect(output).not.toMatch(unclosed);
  else expect(output).toMatch(unclosed);
  expect(output).toMatch(/e\/index\.html:\d+\n +params is not JSON: .+ \[invalid-params\]/);
  expect(output).toMatch(
    /f\/index\.html:\d+\n +The attribute `as` of an embed must be "html" or "text"\. \[invalid-as\]/,
  );
  expect(output).toMatch(
    /g\/index\.html:1\n.*not "y"\. \[invalid-id\]\s+g\/index\.html:4\n +The embed is inside the one of line 2\. \[embed-nested\]/,
  );
  expect(await expectNoEmbedsIn(other)).toEqual([]);
  await other.remove();
});

test('5xx: a temporary failure is retried', async () => {
  service.faults.failingNext = 1;
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('3 requests, 1 retry, 0 fallbacks');
  expect(await site.read('index.html')).toContain('<p>Home <b>one</b></p>');
});

test('5xx: children are shown with a warning, and without children the build fails', async () => {
  Object.assign(service.faults, { failing: 1, only: [2] });
  const first = await site.build(service.environment);
  expect(first.exitCode).toBe(0);
  expect(first.output).toMatch(
    /\[WARN\] \[astro-snippets\] Snippet 2 could not be retrieved: 503 .*\(\d+ attempts\) Its children are shown instead on pricing\/index\.html\. \[server-error\]/,
  );

  expect(await site.read('pricing/index.html')).toContain('<p>Price ask us</p>');

  service.faults.only = [1, 2];
  const second = await site.build(service.environment);
  expect(second.exitCode).toBe(1);
  expect(second.output).toContain('1 snippet could not be fetched.');
  expect(second.output).toContain('Snippet 1: 503 Service Unavailable [server-error]');
  expect(await expectNoEmbedsIn(site)).toEqual(['plain/index.html']);
});

test('variant B is absent: all snippets come from variant A', async () => {
  service.faults.renderAbsent = true;
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('4 requests, 0 retries, 2 fallbacks');
  expect(await site.read('index.html')).toContain('<p>Home <b>one</b></p>');
});

test('a report lists three pages per snippet and counts the rest, and shortens long params', async () => {
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
  expect(output).toMatch(new RegExp(`Snippet 995: [^]*?${listed} and 2 more places\n`));
  expect(output).toMatch(new RegExp(`Snippet 994: [^]*?${listed} and 1 more place\n`));
  expect(output).toMatch(new RegExp(`Snippet 993: [^]*?${listed}\n`));
  expect(output).toContain(`Snippet 992 {"text":"${'x'.repeat(69)}"}: 404`);
  expect(output).toContain(`Snippet 992 {"text":"${'x'.repeat(70)}…: 404`);
  await other.remove();
});

test('without an API key, the error names the variable to set', async () => {
  const { SNIPPETS_API_KEY: _, ...environment } = service.environment;
  const { exitCode, output } = await site.build(environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('SNIPPETS_API_KEY is not set.');
  expect(output).toContain('Set SNIPPETS_API_KEY in the environment, or in a .env file');
  await expectNoEmbedsIn(site);
});

test('without a base URL, the error names both variables', async () => {
  const { exitCode, output } = await site.build({ SNIPPETS_API_KEY: 'sk_some_key_000000' });
  expect(exitCode).toBe(1);
  expect(output).toContain('[astro-snippets/missing-url] No base URL of the service is set.');
  expect(output).toContain('Set SNIPPETS_RENDER_BASE_URL, SNIPPETS_RETRIEVE_BASE_URL or both');
});
