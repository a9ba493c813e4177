import { expect, test } from 'vitest';
import { type Finding, publishChecks } from '../../playground/service/website/publish-checks.ts';

const site = {
  url: 'http://localhost:4321',
  paths: ['/', '/pricing/', '/media/cup.svg', '/a%20b.html'],
  optional: new Map(),
};
type Row = [draft: string, ...findings: `${Finding['severity']} ${string}`[]];

/** Findings as one line each: "breaks 2 leaves a comment open, …". */
const linesOf = (findings: Finding[]) =>
  findings.map(({ severity, line, flaw }) => `${severity} ${line} ${flaw}`);

const breaksOpen = 'open, which browsers continue in the rest of the page.';
const breaksRest = 'open, which swallows the rest of the page.';
const refused = 'which the site refuses: nothing that is published reaches it until this is removed.';

test.for<Row>([
  // Nothing is wrong.
  ['Shipping is <strong>free</strong>.'],
  ['<p>one\n<p>two <!-- note --> <img src="/media/cup.svg" alt="">'],
  ['<a href="/pricing">a</a><a href="/pricing/?a#b">b</a><a href="/">c</a><a href="/a b">d</a>'],
  ['<a href="https://other.example/x">a</a><a href="#top">b</a><a href="mailto:a@b.example">c</a>'],
  ['{% if sale %}<b>{{ rebate | default: "10 %" }}</b>{% endif %}'],
  // What is left open, with the line where it begins.
  ['Shipping is <!-- free', `breaks 1 leaves a comment ${breaksRest} Close it with -->.`],
  ['a\nb <!-- c\nd\ne', `breaks 2 leaves a comment ${breaksRest} Close it with -->.`],
  [
    '<strong>free from 25 €. <a href="/pricing/">More',
    `breaks 1 leaves <strong> and <a> ${breaksOpen} Close it with </a></strong>.`,
  ],
  ['<p>\n<em>one\n</p>\n<p>two</p>\n', `breaks 2 leaves <em> ${breaksOpen} Close it with </em>.`],
  ['<b>x</b>\n\n<b\nclass="y">z', `breaks 3 leaves <b> ${breaksOpen} Close it with </b>.`],
  ['one\n<textarea>\ntwo', `breaks 2 leaves <textarea> ${breaksRest} Close it with </textarea>.`],
  [
    'one\n<a href="/pricing/>two\n',
    `breaks 2 leaves a tag, or a quote in it, ${breaksRest} Look for a missing > or quote.`,
  ],
  [
    '{% if yes %}\n<b>\n{% else %}\n<i>\n{% endif %}\n',
    `breaks 4 leaves <i> ${breaksOpen} Close it with </i>.`,
  ],
  ['{%- assign a =\n  "x" -%}\n{{ a }}\n<b>', `breaks 4 leaves <b> ${breaksOpen} Close it with </b>.`],
  ['a -->\n<!-- b -->\n<i>c</i>\n<!--\n', `breaks 4 leaves a comment ${breaksRest} Close it with -->.`],
  [
    '<b>x</b>\n<a\nhref=/x',
    `breaks 2 leaves a tag, or a quote in it, ${breaksRest} Look for a missing > or quote.`,
  ],
  [
    '<a href="/">x</a>\n<a href=\'/',
    `breaks 2 leaves a tag, or a quote in it, ${breaksRest} Look for a missing > or quote.`,
  ],
  ['<table>\n<tr><td>\n', `breaks 1 leaves <table> ${breaksOpen} Close it with </table>.`],
  ['<i>\n<i>x</i>\n', `breaks 1 leaves <i> ${breaksOpen} Close it with </i>.`],
  // Scripts, where the site refuses them.
  ['<script>alert(1)</script>', `breaks 1 contains <script>, ${refused}`],
  ['a\n<b onclick="x()">c</b>', `breaks 2 contains the attribute onclick, ${refused}`],
  ['a\n\n<a href="javascript:x">c</a>', `breaks 3 contains a javascript: URL in href, ${refused}`],
  // Names that nothing is known by.
  [
    '{{ "a" | upcase }}\n{{ "b" | upcsae }}\n{{ "c" | shout | upcsae }}',
    'note 2 uses the filter “upcsae”, which does not exist: the value is shown as it is.',
    'note 3 uses the filter “shout”, which does not exist: the value is shown as it is.',
  ],
  [
    'for {{ who }}\n{{ plan.name }} {{ who }}',
    'note 1 shows “who”, which has no sample value.',
    'note 2 shows “plan”, which has no sample value.',
  ],
  // Links that lead nowhere.
  ['a\n<a href="/pricng/">b</a>', 'note 2 links to /pricng/, but the site has no such page.'],
  ['<img src="/media/mug.svg" alt="">', 'note 1 shows /media/mug.svg, but the site has no such image.'],
  [
    '<a href="http://localhost:4321/old">b</a>',
    'note 1 links to http://localhost:4321/old, but the site has no such page.',
  ],
  // A template that cannot be filled.
  ['a\n{{ plan }', 'refused 2 has an error: `{{ plan }` is not closed. Add `}}`.'],
])('%j', async ([draft, ...findings]) => {
  const checked = { source: 'sample', params: [{}] } as const;
  expect(linesOf(await publishChecks(draft, checked, { ...site, scripts: 'error' }))).toEqual(findings);
});

test.for([
  ['allow', 'note 1 contains <script>, which runs on every page that shows the snippet.'],
  ['strip', 'note 1 contains <script>, which the site removes.'],
] as const)('a script where the site has `scripts: %s`', async ([scripts, finding]) => {
  const checked = { source: 'sample', params: [{}] } as const;
  const findings = await publishChecks('<script>x</script>', checked, { ...site, scripts });
  expect(linesOf(findings)).toEqual([finding]);
});

test('a draft is checked with the params of each page, and a flaw is named once', async () => {
  const draft =
    '{% case plan %}{% when "pro" %}<b>{% else %}<!--{% endcase %}\n{{ price }}\n<hr on=x onload=y>';
  const params = [{ plan: 'pro', price: 1 }, { plan: 'free' }, { plan: 'pro', price: 2 }];
  const findings = await publishChecks(draft, { source: 'pages', params });
  expect(linesOf(findings)).toEqual([
    `breaks 1 leaves <b> ${breaksOpen} Close it with </b>.`,
    `breaks 1 leaves a comment ${breaksRest} Close it with -->.`,
    'note 2 shows “price”, for which a page passes no value: nothing stands there.',
    'note 3 contains the attribute onload, which runs on every page that shows the snippet.',
  ]);
});
