import { expect, onTestFinished, test } from 'vitest';
import { httpServer } from '../support/http/tls-server.ts';
import { authorityFile, serviceCertificate } from '../support/service/authority.ts';
import { createFolder } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';

/** Inlines a page while all of its snippets arrive, and again when some do not. */
async function inlineTwice(first: number[], second: number[], { isRefused = false } = {}) {
  let isTrouble = false;
  const { origin, close } = await httpServer(
    (request, response) => {
      const id = Number(/snippets\/(\d+)/.exec(request.url)?.[1]);
      // Ids below 100 do not arrive, and those from 200 on are gone.
      if (isTrouble && id < 100) return;
      const isGone = isTrouble && id >= 200;
      response.writeHead(isGone ? 404 : 200, { 'content-type': 'application/problem+json' });
      const answer = isGone ? { title: 'Not Found', status: 404 } : { content: isTrouble ? 'new' : 'old' };
      response.end(JSON.stringify(answer));
    },
    { using: serviceCertificate() },
  );
  const folder = await createFolder({});
  onTestFinished(async () => {
    await folder.remove();
    if (!isRefused) await close();
  });
  const environment = {
    SNIPPETS_API_KEY: 'sk_test_3f1c9a6b52d84e07',
    SNIPPETS_RENDER_BASE_URL: origin,
    NODE_EXTRA_CA_CERTS: authorityFile(),
  };
  const inline = async (ids: number[], timeout: string) => {
    const embeds = ids.map((id) => `<p><snippet-embed id="${id}"></snippet-embed></p>`);
    await folder.write({ 'public/index.html': embeds.join('') });
    const flags = ['--stale-if-error', '7d', '--timeout', timeout];
    return cli(folder.directory, ['inline', 'public', ...flags], environment);
  };
  expect(await inline(first, '1m')).toMatchObject({ exitCode: 0 });
  isTrouble = true;
  if (isRefused) await close();
  return { ...(await inline(second, '500ms')), page: await folder.read('public/index.html') };
}

const limit = 'not fetched within 500 milliseconds, the limit for all snippets (`timeout`)';

test.for([
  ['does not answer', false],
  ['refuses connections', true],
] as const)(
  'when a service %s until the time for all snippets is over, the last good content is shown',
  async ([, isRefused]) => {
    const { exitCode, output, page } = await inlineTwice([1, 2], [1, 2], { isRefused });
    expect(exitCode, output).toBe(0);
    expect(page).toBe('<p>old</p><p>old</p>');
    for (const id of [1, 2]) {
      expect(output).toContain(`Snippet ${id}: ${limit}. Its last good content, fetched `);
    }
    expect(output.match(/is shown instead on index\.html\. \[timeout\]/g)).toHaveLength(2);
  },
);

test('a snippet that arrives in time is current, whatever else hangs', async () => {
  const { exitCode, page } = await inlineTwice([1, 100], [1, 100]);
  expect({ exitCode, page }).toEqual({ exitCode: 0, page: '<p>old</p><p>new</p>' });
});

test.for([
  ['was never fetched', 2, `Snippet 2: ${limit}`],
  ['does not exist any more', 200, 'Snippet 200: 404 Not Found [not-found]'],
] as const)('a snippet that %s fails, even if others have old content', async ([, id, message]) => {
  const { exitCode, output } = await inlineTwice(id === 2 ? [1] : [1, id], [1, id]);
  expect(exitCode).toBe(1);
  expect(output).toContain(message);
  expect(output).toContain('1 snippet could not be fetched.');
  expect(output).not.toContain('Snippet 1:');
});
