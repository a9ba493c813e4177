import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { showProgress } from '../../src/build/progress.ts';

beforeEach(() => {
  vi.stubEnv('CI', '');
  vi.spyOn(performance, 'now').mockReturnValue(0);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function at(milliseconds: number): void {
  vi.mocked(performance.now).mockReturnValue(milliseconds);
}

test('on a terminal: a bar that is drawn over itself, not too often, and taken away', () => {
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  const lines: string[] = [];
  const progress = showProgress(4, terminal, (line) => lines.push(line));
  const drawn = () => stripVTControlCharacters(terminal.read() ?? '');
  at(100);
  progress.show(1);
  expect(drawn()).toBe(`${'━'.repeat(24)} 1 of 4 snippets`);
  at(110);
  progress.show(2);
  expect(drawn()).toBe('');
  // The last one always, so that what is seen is what is true.
  progress.show(4);
  expect(drawn()).toBe(`${'━'.repeat(24)} 4 of 4 snippets`);
  progress.erase();
  expect(drawn()).toBe('');
  expect(lines).toEqual([]);
});

test.for([
  ['where there is no terminal', { isTTY: false }, ''],
  ['on a terminal of a CI system', { isTTY: true }, 'true'],
] as const)('%s: a line now and then', ([, kind, ci]) => {
  vi.stubEnv('CI', ci);
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), kind);
  const lines: string[] = [];
  const progress = showProgress(900, terminal, (line) => lines.push(line));
  for (let second = 1; second <= 12; second++) {
    at(second * 1000);
    progress.show(second * 10);
  }
  progress.erase();
  expect(lines).toEqual(['50 of 900 snippets', '100 of 900 snippets']);
  expect(terminal.read()).toBeNull();
});
