import { expect, test } from 'vitest';
import { pageScript } from '../../src/dev/error-page.ts';

interface Answer {
  hash?: string;
  hasChanged?: boolean;
  names?: Record<string, string>;
}

/** Runs the script of a page with this data. Returns the data, how often it was loaded again, and a way to answer. */
function runScript(snippets: object[]) {
  const data = { dataset: { hash: 'h' }, textContent: JSON.stringify(snippets) };
  const page = { reloads: 0, snippets: () => JSON.parse(data.textContent), answer: (_: Answer) => {} };
  const hot = {
    send() {},
    on: (_: string, listener: (answer: Answer) => void) => {
      page.answer = listener;
    },
  };
  const document = { querySelector: () => data, addEventListener() {}, visibilityState: 'visible' };
  const location = {
    reload() {
      page.reloads += 1;
    },
  };
  new Function('hot', 'document', 'location', 'setInterval', pageScript('hot'))(
    hot,
    document,
    location,
    () => {},
  );
  return page;
}

test('a page gets names that arrive after it, and is not loaded again for them', () => {
  const page = runScript([
    { id: 1, url: '/1' },
    { id: 2, name: 'Terms' },
  ]);
  page.answer({ hash: 'h', hasChanged: false, names: { 1: '</script>', 2: 'Terms' } });
  expect(page.snippets()).toEqual([
    { id: 1, url: '/1', name: '</script>' },
    { id: 2, name: 'Terms' },
  ]);
  page.answer({ hash: 'h', hasChanged: false, names: {} });
  expect(page.snippets()[1]).toEqual({ id: 2, name: 'Terms' });
  expect(page.reloads).toBe(0);
});

test('a page is loaded again for a change, and ignores the answer to another page', () => {
  const page = runScript([{ id: 1 }]);
  page.answer({ hash: 'other', hasChanged: true, names: { 1: 'No' } });
  page.answer({ hasChanged: true, names: { 1: 'No' } });
  expect([page.reloads, page.snippets()]).toEqual([0, [{ id: 1 }]]);
  page.answer({ hash: 'h', hasChanged: true, names: { 1: 'Yes' } });
  expect(page.reloads).toBe(1);
});
