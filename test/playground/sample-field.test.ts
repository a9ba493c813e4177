import { describe, expect, test } from 'vitest';
import { headCard } from '../../playground/service/website/head-card.ts';
import { sampleFields, sampleOf, valueFields } from '../../playground/service/website/sample-field.ts';

describe('the sample params of a form', () => {
  const before = '{ "plan": "pro", "seats": 3, "list": [1], "shown": true }';
  const unchanged = { sample: before, sampleBefore: before };
  const fields = { 'value-plan': 'pro', 'value-seats': '3', 'value-shown': 'true' };

  test.for([
    ['no form has them', {}, '{}'],
    ['neither was edited', { ...unchanged, ...fields }, before],
    ['there is only JSON', { sample: '{"a":1}' }, '{"a":1}'],
    ['JSON was edited', { ...unchanged, ...fields, sample: '{"plan":"team"}' }, '{"plan":"team"}'],
    ['both were edited', { ...unchanged, 'value-plan': 'x', sample: '{"plan":"y"}' }, '{"plan":"y"}'],
    ['JSON was broken', { ...unchanged, ...fields, sample: '{"plan"' }, '{"plan"'],
  ] as const)('are the JSON as it is if %s', ([, body, sample]) => {
    expect(sampleOf(body)).toBe(sample);
  });

  test.for([
    ['a text', { 'value-plan': 'team' }, { plan: 'team', seats: 3, list: [1], shown: true }],
    ['a number stays one', { 'value-seats': '4' }, { plan: 'pro', seats: 4, list: [1], shown: true }],
    [
      'a number becomes text',
      { 'value-seats': 'four' },
      { plan: 'pro', seats: 'four', list: [1], shown: true },
    ],
    ['a value is removed', { 'value-plan': '' }, { seats: 3, list: [1], shown: true }],
    ['a value is added', { 'value-more': '1' }, { plan: 'pro', seats: 3, list: [1], shown: true, more: '1' }],
    ['a name of all objects', { 'value-toString': 'x' }, JSON.parse(before.replace('{', '{"toString":"x",'))],
  ] as const)('are changed by a field: %s', ([, body, sample]) => {
    expect(JSON.parse(sampleOf({ ...unchanged, ...fields, ...body }))).toEqual(sample);
  });
});

describe('the fields for variables', () => {
  const namesIn = (html: string) =>
    [...html.matchAll(/ name="value-([^"]*)" value="([^"]*)"/g)].map(([, ...is]) => is);

  test.for([
    ['nothing', '{}', []],
    [
      '{{ plan }} {% if seats > 1 %}{{ seats }}{% endif %}',
      '{"seats":3}',
      [
        ['plan', ''],
        ['seats', '3'],
      ],
    ],
    ['{% assign title = plan %}{{ title }}', '{}', [['plan', '']]],
    ['{{ user.name }} {% for one in list %}{{ one }}{% endfor %}', '{"list":[1],"a b":1}', []],
    ['{{ not closed', '{"plan":"<b>"}', [['plan', '&lt;b&gt;']]],
    ['{{ toString }}', '[1]', [['toString', '']]],
  ] as const)('are those that a person can fill: %s', async ([draft, sample, names]) => {
    expect(namesIn(await valueFields({ draft, sample }))).toEqual(names);
  });

  test('leave the JSON to those who ask, or whose JSON is broken', async () => {
    expect(`${await sampleFields({ draft: '', sample: '{}' })}`).toMatch(/<details><summary>.*<textarea/s);
    expect(`${await sampleFields({ draft: '', sample: '{"a' })}`).toContain('<details open>');
  });
});

const textOf = async (content: string) => `${await headCard(content)}`;

describe('the preview of what is for <head>', () => {
  test('is a card with the title, the description, the site and the image', async () => {
    const card = await textOf(`<meta property="og:site_name" content="Northwind &amp; Co.">
<meta name="twitter:title" content="<b>"><meta property="og:image" content="/media/one.png">
<meta name="description" content="Roasted on Tuesdays">`);
    for (const part of ['Northwind &amp; Co.', '&lt;b&gt;', 'src="/media/one.png"', 'Roasted on Tuesdays']) {
      expect(card).toContain(part);
    }
  });
  test.for(['<p>one</p>', 'text', '<metal>', ''])('is none for what is visible: %j', (content) => {
    expect(headCard(content)).toBeUndefined();
  });
  test('has a title and nothing else without any of them', async () => {
    const card = await textOf('\n<link rel="preload" href="/x">');
    expect(card).toContain('The title of the page');
    expect(card).not.toContain('undefined');
    expect(card).not.toContain('<img');
  });
});
