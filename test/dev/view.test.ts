import { expect, test } from 'vitest';
import { linkOf } from '../../src/dev/view.ts';

const fail = (reason: unknown) => {
  throw reason;
};

test.for<[what: string, editUrl: () => unknown, reason: string]>([
  ['throws', () => JSON.parse('{').url, 'failed for snippet 42: Expected property name'],
  ['throws no error', () => fail(null), 'failed for snippet 42: null'],
  ['returns a rejected promise', async () => fail(null), 'returned a value of type object for snippet 42'],
  ['returns a BigInt', () => 42n, 'returned a value of type bigint for snippet 42'],
  ['returns no URL', () => 'https://', 'returned "https://" for snippet 42'],
])(
  'if editUrl %s, the snippet has no link, and a warning names the option and the snippet',
  ([, editUrl, reason]) => {
    const warnings: string[] = [];
    const warn = (line: string) => void warnings.push(line);
    expect(linkOf(42, editUrl as () => string, warn)).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining(`The function editUrl ${reason}`)]);
  },
);
