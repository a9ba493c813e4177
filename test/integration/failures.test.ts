import { describe, expect, test } from 'vitest';
import { type TestService, temporaryService } from '../support/service/service.ts';
import { builtSite, sharedSite } from '../support/site/built-site.ts';
import { byAstro } from '../support/site/installation.ts';
import { configWith, pageWith, type Site, temporarySite } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const embed = (id: number | string, more = '') => `<snippet-embed id="${id}"${more}></snippet-embed>`;

async function expectPages(site: Site, expected: readonly string[]): Promise<void> {
  const pages = (await site.list()).filter((name) => name.endsWith('.html'));
  expect(pages).toEqual(expected);
  for (const page of pages) expect(await site.read(page)).not.toContain('snippet-embed');
}

describe('an error of the whole site', async () => {
  const { service, site } = await sharedSite(
    { 1: '<b>one</b>', 2: '<b>two</b>' },
    {
      'src/pages/index.astro': `<p>Home ${embed(1)}</p>`,
      'src/pages/pricing.astro': `<p>Price <snippet-embed id="2">ask us</snippet-embed></p>`,
      'src/pages/plain.astro': '<p>Plain</p>',
    },
  );

  test.for<[what: string, environment: (service: TestService) => Record<string, string>, said: string[]]>([
    [
      '401: an unknown API key',
      () => ({ SNIPPETS_API_KEY: 'sk_revoked_secret0' }),
      [
        ': 401 Unauthorized [unauthorized]',
        'The API key is not valid: it is unknown or was revoked.',
        '/problems/',
        'index.html',
        'unauthorized: Check SNIPPETS_API_KEY: the service does not know this key.',
        '1 more snippet would fail the same way.',
      ],
    ],
    [
      '403: a public key, as it may not render',
      ({ publicKey }) => ({ SNIPPETS_API_KEY: publicKey }),
      [
        'Snippet 1: 403 Forbidden [forbidden]',
        'A public API key may not render snippets.',
        'on index.html',
        'Use a secret key: a public one has limited privileges.',
      ],
    ],
  ])('%s fails the build with one report, and no page with an embed is left', async ([, change, said]) => {
    const output = await exits(1, site.build({ ...service.environment, ...change(service) }));
    for (const text of said) expect(output).toContain(text);
    expect(output).not.toContain('secret0');
    await expectPages(site, ['plain/index.html']);
  });

  test('without a base URL, the error names what to set', async () => {
    const output = await exits(1, site.build({ SNIPPETS_API_KEY: 'sk_some_key_000000' }));
    expect(output).toContain('[astro-snippets/missing-url] No base URL of the service is set.');
    expect(output).toContain('Set SNIPPETS_RENDER_BASE_URL, SNIPPETS_RETRIEVE_BASE_URL or both');
  });

  test('a temporary failure (5xx) is retried, and without variant B everything comes from A', async () => {
    Object.assign(service.faults, { failingNext: 1, renderAbsent: true });
    const output = await exits(0, site.build());
    expect(output).toContain('5 requests, 1 retry · 2 retrieved instead of rendered');
    expect(output).toContain(
      `No snippet was rendered: ${service.environment.SNIPPETS_RENDER_BASE_URL} answers 404 for every route. All were retrieved instead.`,
    );
    expect(await site.read('index.html')).toContain('<p>Home <b>one</b></p>');
  });
});

test('402: an expired subscription ends the run with one report that counts the other snippets', async () => {
  const service = await temporaryService({});
  const site = await temporarySite(
    {
      'src/pages/many.astro': Array.from({ length: 62 }, (_, index) => embed(index + 1)).join('\n'),
      'src/pages/plain.astro': '<p>Plain</p>',
    },
    service,
  );
  service.store.organizations.setSubscription(service.organizationId, 'expired');
  const output = await exits(1, site.build());
  expect(output).toContain('62 snippets could not be fetched.');
  expect(output).toContain(': 402 Payment Required [payment-required]');
  expect(output).toContain('The subscription of Test has expired.');
  expect(output).toContain("The organization's free trial or subscription has expired.");
  expect(output).toContain('61 more snippets would fail the same way.');
  // The most requests that may be in progress at once.
  expect(service.requests().length).toBeLessThanOrEqual(20);
  await expectPages(site, ['plain/index.html']);
});

// Older versions of Astro use Remark, which adds missing end tags.
const closesEmbeds = byAstro({ 5: true, 6: true, 7: false });

describe('different failures and invalid embeds are reported together:', async () => {
  const { site, output } = await builtSite(
    { 1: 'one', 2: 'two', 3: 'three' },
    {
      'astro.config.mjs': configWith('', { settings: 'compressHTML: false,' }),
      // Snippets 992 to 999 do not exist, and 60 belongs to another organization.
      'src/pages/a.astro': embed(995) + embed(994) + embed(993),
      'src/pages/b.astro': embed(995) + embed(994) + embed(993),
      'src/pages/c.astro': embed(995) + embed(994) + embed(993),
      'src/pages/d.astro': embed(995) + embed(994),
      'src/pages/e.astro': embed(995),
      // As canonical JSON: 80 and 81 characters.
      'src/pages/long.astro': [69, 70]
        .map((length) => embed(992, ` params='{"text":"${'x'.repeat(length)}"}'`))
        .join(''),
      'src/pages/children.astro': '<p><snippet-embed id="999">children</snippet-embed></p>',
      'src/pages/theirs.astro': `<p>${embed(60)}</p>`,
      'src/pages/id.astro': `<p>\n\n${embed('abc')}</p>`,
      'src/pages/unclosed.md': 'x\n\n<div><snippet-embed id="1"></div>\n',
      'src/pages/params.astro': `<p>${embed(3, ` params='{"a":'`)}</p>`,
      'src/pages/as.astro': `<p>\n\n\n${embed(1, ' as="xml"')}</p>`,
      'src/pages/optional.astro': `<p>\n${embed(9, ' optional="constructor"')}</p>`,
      'src/pages/misspelled.astro': `<p>${embed(1, ` parms='{"a":1}'`)}</p>`,
      'src/pages/lost.astro': `<p>\n${embed(1, ' data-reveal')}</p>`,
      'src/pages/slotted.astro': pageWith('<my-card><Snippet id={1} slot="footer" /></my-card>'),
      'src/pages/nested.html': `<p>${embed('y')}\n<snippet-embed id="1">\n\n${embed(2)}</snippet-embed></p>`,
      'public/script.html': `<script>\nconst a = '${embed(1)}';</script>`,
      'public/style.html': `<style>\n${embed(1)}</style>`,
      'public/items.yaml': `item:\n  title: ${embed(1)}`,
      'public/attribute.html': `<p>\n<i onclick='${embed(1)}'></i></p>`,
      'public/island.html': `<p>\n<astro-island>${embed(1)}</astro-island></p>`,
      'src/pages/fine.astro': `<p>Home ${embed(1)}</p>`,
      'src/pages/plain.astro': '<p>Plain</p>',
    },
    1,
  );
  const three = 'a/index.html, b/index.html, c/index.html';
  const missing = (id: string, places: string) =>
    new RegExp(
      `\\nSnippet ${id}: 404 Not Found \\[not-found\\]\\n(?: {4}.*\\n){2} {4}on ${places}\\n {4}written in src/pages/`,
    );

  test.for<string | RegExp>([
    `7 snippets could not be fetched, and ${closesEmbeds ? 14 : 15} embeds are invalid.`,
    missing('995', `${three} and 2 more places`),
    missing('994', `${three} and 1 more place`),
    missing('993', three),
    missing(`992 {"text":"${'x'.repeat(69)}"}`, 'long/index.html'),
    missing(`992 {"text":"${'x'.repeat(70)}…`, 'long/index.html'),
    // Children do not help here.
    missing('999', 'children/index.html'),
    missing('60', 'theirs/index.html'),
    '\nid/index.html:4\n    A snippet id must be a positive whole number, not "abc". [invalid-id]\n    written in src/pages/id.astro:3\n',
    /\nparams\/index\.html:2\n {4}params is not JSON: .+ \[invalid-params\]\n/,
    '\nas/index.html:5\n    The attribute `as` of an embed must be "html" or "text", not "xml". [invalid-as]\n',
    '\noptional/index.html:3\n    The attribute `optional` of an embed takes no value, and has "constructor". [invalid-optional]\n',
    '\nmisspelled/index.html:2\n    The embed has the unknown attribute `parms`. Did you mean `params`? [unknown-attribute]\n    written in src/pages/misspelled.astro:1\n',
    /\nnested\/index\.html:2\n.* not "y"\. \[invalid-id\]\n {4}written in src\/pages\/nested\.html:1\n\nnested\/index\.html:5\n.* the one of line 3\. \[embed-nested\]\n {4}written in src\/pages\/nested\.html:4\n/,
    '\nscript.html:2\n    The embed is in a script that runs. [embed-in-script]\n    written in public/script.html:2\n',
    '\nstyle.html:2\n    The embed is in a style sheet. [embed-in-script]\n',
    '\nitems.yaml:2\n    The embed is in a file whose syntax is unknown, so its content cannot be escaped. [embed-in-format]\n',
    '\nattribute.html:2\n    The embed is in the attribute onclick, which contains code. [embed-in-attribute]\n',
    '\nlost/index.html:3\n    The embed has the unknown attribute `data-reveal`. It would be lost with the embed: put it on an element around the embed, or remove it. [unknown-attribute]\n    written in src/pages/lost.astro:2\n',
    '\nslotted/index.html:2\n    The embed has the unknown attribute `slot`. It would be lost with the embed: put it on an element around the embed, or remove it. [unknown-attribute]\n    written in src/pages/slotted.astro:4\n',
    "\nisland.html:2\n    The embed of snippet 1 is in an island's own markup, and would vanish when the island hydrates. [embed-in-island]\n",
    'not-found: Check the id: the snippet does not exist,',
  ])('%s', (said) => {
    expect(output).toMatch(said);
  });

  test('an embed without an end tag', () => {
    const unclosed =
      /unclosed\/index\.html:\d+\n +The embed has no end tag\. \[embed-unclosed\]\n +written in src\/pages\/unclosed\.md:3\n/;
    expect(unclosed.test(output)).toBe(!closesEmbeds);
  });

  test('no page with an embed is left', () => expectPages(site, ['plain/index.html']));
});

const pricing = 'defineSnippet({ id: 9, params: z.object({ plans: z.array(z.enum(["free", "pro"])) }) })';
test.for([
  ['id={9} param={{ plan: "pro" }}', 'the prop `param` is unknown. Did you mean `params`?'],
  ['id={9} optinal', 'the prop `optinal` is unknown. Did you mean `optional`?'],
  [`off={${pricing}}`, 'the prop `off` is unknown. Did you mean `of`?'],
  [
    'id={9} title="Prices"',
    'the prop `title` is unknown. It would be lost with the embed: put it on an element around the embed, or remove it.',
  ],
  ['id={9} class:list={["big"]}', 'the prop `class` is unknown. It would be lost'],
  ['id={9} transition:name="offer"', 'is unknown. Astro writes it for `transition:…`. It would be lost'],
  ['id={9} client:load', 'the prop `client:load` is unknown. It would be lost'],
  ['id={9} optional="maybe"', '`optional` must be true or false, not "maybe".'],
  [`of={${pricing}} params={{ plans: ['pro', 'gold'] }}`, 'params.plans.1: Invalid option: expected one of'],
  [`of={${pricing}} params={{ plans: 'pro' }}`, 'Fix the params as the message says. They are one object'],
] as const)('<Snippet %s> is an error with its place', async ([props, message]) => {
  const site = await temporarySite({
    'src/pages/offer.astro': `---
import { z } from 'astro/zod';
import { defineSnippet } from 'astro-snippets/client';
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet ${props} /></p>`,
  });
  const output = await exits(
    1,
    site.build({
      SNIPPETS_API_KEY: 'sk_some_key_000000',
      SNIPPETS_RENDER_BASE_URL: 'https://render.test',
    }),
  );
  expect(output).toContain(message);
  expect(output).toMatch(/<Snippet> .*\/offer\/ \(src\/pages\/offer\.astro:6\)/);
});
