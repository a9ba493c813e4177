import { expect, onTestFinished, test } from 'vitest';
import { serveFolder } from '../../support/http/folder-server.ts';
import { copyOfEverything } from '../../support/site/everything.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const browser = await sharedBrowser();

test('after a refresh, a search in the browser finds the new word and not the old one', async () => {
  const site = await copyOfEverything('pagefind');
  const server = await serveFolder(`${site.directory}/dist`);
  onTestFinished(() => server.close());

  /** The URLs that a search finds. */
  async function search(word: string): Promise<string[]> {
    const page = await browser.newPage();
    await page.goto(`${server.url}/plain.html`);
    // As a string: the test runner would rewrite an import in a function.
    return page.evaluate(`import('/pagefind/pagefind.js')
      .then((pagefind) => pagefind.search('${word}'))
      .then(({ results }) => Promise.all(results.map(async (result) => (await result.data()).url)))`);
  }

  expect(await search('heffalump')).toHaveLength(1);
  site.service.put(1, 'the woozle');
  const { output } = await site.run('refresh');
  const [, command = ''] = /--after '([^']*)'/.exec(output) ?? [];
  expect(await site.run('refresh', '--after', command)).toMatchObject({ exitCode: 0 });
  expect(await search('woozle')).toHaveLength(1);
  expect(await search('heffalump')).toEqual([]);
});
