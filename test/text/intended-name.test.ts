import { expect, test } from 'vitest';
import { didYouMean, intendedName } from '../../src/text/intended-name.ts';

const options = [
  'renderBaseUrl',
  'ca',
  'cache',
  'csp',
  'links',
  'staleIfError',
  'images',
  'params',
  'patience',
];

test.for([
  ['staleIfErorr', 'staleIfError'],
  ['StaleIfError', 'staleIfError'],
  ['stale-if-error', 'staleIfError'],
  ['stale_if_eror', 'staleIfError'],
  ['renderBaseURL', 'renderBaseUrl'],
  ['image', 'images'],
  ['cach', 'cache'],
  ['link ', 'links'],
  ['csp\u200b', 'csp'],
  ['ac', 'ca'],
  ['parms', 'params'],
  ['patients', 'patience'],
  ['pacients', undefined],
  ['retries', undefined],
  ['url', undefined],
  ['', undefined],
  ['---', undefined],
  ['кэш', undefined],
  ['x'.repeat(1_000_000), undefined],
] as const)('%j was meant to be %j', ([written, intended]) => {
  expect(intendedName(written, options)).toBe(intended);
});

test('the nearest name is taken, not the first that is near', () => {
  expect(intendedName('cache', ['cachet', 'cache'])).toBe('cache');
  expect(intendedName('paramz', ['parmz', 'paramse', 'params'])).toBe('parmz');
  expect(intendedName('timeoutt', ['timouts', 'timeout'])).toBe('timeout');
  expect(intendedName('ab', ['ac', 'ad'])).toBe('ac');
});

test('the question names what was meant, or is empty', () => {
  expect(didYouMean('staleIfErorr', options)).toBe('Did you mean `staleIfError`?');
  expect(didYouMean('timezone', options)).toBe('');
});
