import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changedParts } from '../../src/output/derived/changed-parts.ts';
import { runs } from '../support/tools/property.ts';

const parts = (old: string, current: string) => changedParts(Buffer.from(old), Buffer.from(current));
const filler = (count: number, word: string) =>
  Array.from({ length: count }, (_, index) => `<p>${word} number ${index} of many</p>`).join('\n');

describe('the parts of a page that change', () => {
  const page = (header: string, footer: string) =>
    `<title>A page</title><header>Before you order <b>${header}</b> and no more</header>${filler(300, 'paragraph')}
<footer>All of it <i>${footer}</i> and the imprint</footer>`;

  test('are those in the header and in the footer, with their neighbors, and nothing between', () => {
    const found = parts(page('40 €', 'one'), page('45 €', 'another'));
    expect(found).toHaveLength(2);
    expect(found[0]?.old).toContain('Before you order <b>40 €</b> and no more');
    expect(found[0]?.current).toContain('Before you order <b>45 €</b> and no more');
    expect(found[1]?.old).toContain('All of it <i>one</i> and the imprint');
    for (const { old } of found) expect(old.length).toBeLessThan(400);
  });

  test('are one part if few words are between them', () => {
    const row = (price: string, unit: string) =>
      `${filler(20, 'before')}<td>Chair</td><td>${price}</td><td class="unit of the price, which is in a column of its own">${unit}</td>${filler(20, 'after')}`;
    const found = parts(row('40', 'EUR'), row('50', 'USD'));
    expect(found).toHaveLength(1);
    expect(found[0]?.old).toMatch(/40.*EUR/);
  });

  test('have neighbors beyond long tags', () => {
    const image = `<img alt="" src="data:image/png;base64,${'A'.repeat(1_000)}">`;
    const around = (content: string) =>
      `<p>one two three four</p>${image}<b>${content}</b>${image}<p>five six seven eight</p>`;
    const [found] = parts(around('old'), around('new'));
    expect(found?.old).toContain('two three four');
    expect(found?.old).toContain('five six seven');
  });

  test('have neighbors beyond tags with words, which are no text', () => {
    const tag = `<div title="${'some words of an attribute '.repeat(5)}">`;
    const around = (content: string) =>
      `<p>one two three four</p>${tag}<b>${content}</b>${tag}<p>five six seven eight</p>`;
    const [found] = parts(around('old'), around('new'));
    expect(found?.old).toContain('two three four');
    expect(found?.old).toContain('five six seven');
  });

  test('are none if nothing changes, and all of a page that is another one', () => {
    expect(parts('same', 'same')).toEqual([]);
    expect(parts(filler(20, 'old'), filler(20, 'new'))[0]?.old).toContain('old number 10');
  });

  test('hold each word that only the old page has, wherever contents of any length are replaced', () => {
    const word = fc.constantFrom('alpha', 'beta', '40 €', 'ü', '<b>x</b>', '');
    const contents = fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 5 });
    const gaps = fc.array(fc.nat(40), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(contents, gaps, (pairs, sizes) => {
        const make = (side: 0 | 1) =>
          `${filler(sizes[5] ?? 0, 'start')}${pairs.map((pair, index) => `<i>${pair[side] && `only${side}x${index} ${pair[side]}`}</i>${filler(sizes[index] ?? 0, 'gap')}`).join('')}`;
        const found = parts(make(0), make(1));
        for (const [index, [old]] of pairs.entries()) {
          if (old) expect(found.some((part) => part.old.includes(`only0x${index}`))).toBe(true);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
