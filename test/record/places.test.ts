import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layerNames } from '../../src/embed/layers.ts';
import {
  arePackedPlaces,
  dropUnusedKinds,
  kindsOf,
  type Place,
  PlacePacker,
  unpackPlaces,
} from '../../src/record/places.ts';

const form = fc.record(
  {
    as: fc.constantFrom('html' as const, 'text' as const),
    layers: fc.array(fc.constantFrom(...layerNames), { maxLength: 3 }),
    around: fc.constantFrom('svg', 'noscript'),
    paragraph: fc.record({ before: fc.string({ maxLength: 3 }), after: fc.string({ maxLength: 3 }) }),
  },
  { requiredKeys: ['as', 'layers'] },
);
const place = fc.record(
  {
    gap: fc.nat(5),
    length: fc.nat(3),
    snippet: fc.nat(3),
    content: fc.constantFrom('a', 'b'),
    children: fc.constantFrom('', 'c'),
    form,
  },
  { requiredKeys: ['gap', 'length', 'snippet', 'form'] },
);
/** The places of a file, one after another. */
const places = fc.array(place, { maxLength: 8 }).map((found) => {
  let last = 0;
  return found.map(({ gap, length, ...kind }): Place => {
    const start = last + gap;
    last = start + length;
    return { ...kind, start, end: last };
  });
});
const files = fc.array(places, { maxLength: 5 });

test('places are the same after they were packed and unpacked', () => {
  fc.assert(
    fc.property(files, (unpacked) => {
      const packer = new PlacePacker();
      const packed = unpacked.map((file) => packer.pack(file));
      expect(packed.map((file) => unpackPlaces(packer.kinds, file))).toEqual(unpacked);
      expect(packed.every((file) => arePackedPlaces(file, packer.kinds.length))).toBe(true);
    }),
  );
});

test('places that are alike share one kind', () => {
  const packer = new PlacePacker();
  const alike = (start: number): Place => ({
    snippet: 0,
    form: { as: 'html', layers: ['json'], paragraph: { before: '<p>', after: '</p>' } },
    content: 'a',
    start,
    end: start + 4,
  });
  expect(packer.pack([alike(10), alike(20)])).toEqual([0, 10, 0, 6]);
  expect(packer.pack([{ ...alike(3), end: 8 }])).toEqual([1, 3]);
  expect(packer.kinds).toHaveLength(2);
});

test('a packer keeps the indexes of the kinds that it is given', () => {
  fc.assert(
    fc.property(files, places, (before, more) => {
      const first = new PlacePacker();
      const packed = before.map((file) => first.pack(file));
      const second = new PlacePacker(first.kinds);
      second.pack(more);
      expect(packed.map((file) => unpackPlaces(second.kinds, file))).toEqual(before);
      expect(second.kinds.slice(0, first.kinds.length)).toEqual(first.kinds);
    }),
  );
});

test('dropping kinds that no place has leaves every place as it is', () => {
  fc.assert(
    fc.property(files, files, (kept, dropped) => {
      const packer = new PlacePacker();
      for (const file of dropped) packer.pack(file);
      const packed = kept.map((file) => ({ places: packer.pack(file) }));
      const result = dropUnusedKinds(packer.kinds, packed);
      expect(result.files.map((file) => unpackPlaces(result.kinds, file.places))).toEqual(kept);
      const used = new Set(result.files.flatMap((file) => kindsOf(result.kinds, file.places)));
      expect(used.size).toBe(result.kinds.length);
    }),
  );
});

test.each<[string, unknown]>([
  ['text', 'ab'],
  ['a kind without a gap', [0]],
  ['a kind that does not exist', [2, 0]],
  ['a negative kind', [-1, 0]],
  ['a negative gap', [0, -1]],
  ['a gap that is no whole number', [0, 0.5]],
  ['a gap beyond safe integers', [0, 2 ** 60]],
  ['numbers as text', ['0', '1']],
  ['null', [0, null]],
])('%s is no list of packed places', (_what, value) => {
  expect(arePackedPlaces(value, 2)).toBe(false);
});
