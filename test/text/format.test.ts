import { expect, test } from 'vitest';
import { formatBytes, formatDuration } from '../../src/text/format.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

test.for([
  [0, '0ms', '0 milliseconds'],
  [12.4, '12ms', '12 milliseconds'],
  [second, '1s', '1 second'],
  [1_254, '1.25s', '1.25 seconds'],
  [119 * second, '119s', '119 seconds'],
  [2 * minute, '2m', '2 minutes'],
  [2 * minute + 1, '3m', '3 minutes'],
  [119 * minute, '119m', '119 minutes'],
  [119 * minute + 1, '2h', '2 hours'],
  [2 * hour + 1, '3h', '3 hours'],
  [47 * hour, '47h', '47 hours'],
  [47 * hour + 1, '2d', '2 days'],
  [48 * hour + 1, '3d', '3 days'],
] as const)('a duration of %d ms is formatted as %s or %s', ([milliseconds, narrow, long]) => {
  expect(formatDuration(milliseconds)).toBe(narrow);
  expect(formatDuration(milliseconds, 'long')).toBe(long);
});

test.for([
  [0, '0B'],
  [999, '999B'],
  [1_000, '1kB'],
  [1_549, '1.5kB'],
] as const)('a size of %d bytes is formatted as %s', ([bytes, expected]) => {
  expect(formatBytes(bytes)).toBe(expected);
});
