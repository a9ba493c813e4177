import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CheckOutput, ListOutput, RefreshOutput } from '../../src/cli/json-output.ts';
import { sharedService } from '../support/site/built-site.ts';
import { configWith, pageWith, type Site, temporarySite } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

const service = await sharedService({});
service.put(420, 'Free shipping', 'Free-shipping line');
service.put(430, 'Terms', 'Terms');
const { SNIPPETS_RENDER_BASE_URL: _, ...retrieving } = service.environment;

const pages = {
  'src/pages/index.astro': pageWith(
    `<html><head><title>Home</title></head><body><p><Snippet id={420} params={{ plan: 'pro' }} /></p><Snippet id={430} /></body></html>`,
  ),
};
const editLinks = configWith(`{ editUrl: (id) => 'https://edit.example/' + id, editLinks: true }`);

const json = async <Output>(site: Site, environment: Record<string, string>, ...arguments_: string[]) => {
  const { stdout } = await cli(site.directory, [...arguments_, '--json'], environment);
  return JSON.parse(stdout) as Output;
};

/** The requests since the last call, as `render 420`. */
let seen = 0;
function requests(): string[] {
  const all = service.requests();
  const found = all.slice(seen).map(({ variant, snippetId }) => `${variant} ${snippetId}`);
  seen = all.length;
  return found.sort();
}

/** The names in the data of the panel on a page. */
async function linkedNames(site: Site): Promise<unknown> {
  const [, data = '[]'] = /id="snippet-edit-links">(.*?)<\/script>/.exec(await site.read('index.html')) ?? [];
  return JSON.parse(data).map(({ id, name }: { id: number; name?: string }) => [id, name]);
}

describe('names that retrieving has sent', () => {
  test('are shown by each command, in text and in JSON, also where they are not sent any more', async () => {
    const site = await temporarySite(pages, service);
    await site.builds(retrieving);
    requests();
    const run = (...arguments_: string[]) => cli(site.directory, arguments_, service.environment);
    const named = 'Snippet 420 (Free-shipping line) {"plan":"pro"}';

    expect((await run('list')).stdout).toContain(`${named}\n`);
    const { snippets } = await json<ListOutput>(site, service.environment, 'list');
    expect(snippets.map(({ id, name }) => [id, name])).toEqual([
      [420, 'Free-shipping line'],
      [430, 'Terms'],
    ]);

    service.put(420, 'Shipping is <b>free', 'Free-shipping line');
    expect((await run('check')).stdout).toContain(`${named} has changed\n`);
    const checked = await json<CheckOutput>(site, service.environment, 'check');
    expect(checked.changed).toMatchObject([{ id: 420, name: 'Free-shipping line' }]);
    expect((await run('refresh', '--dry-run')).stdout).toContain(`${named}, on 1 page\n`);
    const refreshed = await json<RefreshOutput>(site, service.environment, 'refresh');
    expect(refreshed.written[0]?.snippets).toMatchObject([{ id: 420, name: 'Free-shipping line' }]);
    expect(refreshed.warnings).toMatchObject([
      {
        name: 'Free-shipping line',
        message: expect.stringMatching(/^Snippet 420 \(Free-shipping line\) leaves <b> open/),
      },
    ]);

    service.unpublish(430);
    expect((await run('check')).output).toContain('Snippet 430 (Terms): 404');
    service.put(430, 'Terms', 'Terms');
    await exits(0, run('report', '--to', 'report.html'));
    expect(await readFile(join(site.directory, 'report.html'), 'utf8')).toContain('Free-shipping line');
    expect((await run('get', '420')).stderr).toContain('Free-shipping line · render');
    // None of that asks for a name.
    expect(requests().filter((request) => request.startsWith('retrieve 420'))).toEqual([]);
    service.put(420, 'Free shipping', 'Free-shipping line');
  });

  test('are clean, without the key, and kept by the next build, which asks for none', async () => {
    service.put(430, 'Terms', `\u001b[31mKey ${service.environment.SNIPPETS_API_KEY} ::error::`);
    const site = await temporarySite(pages, service);
    await site.builds(retrieving);
    requests();
    await site.builds(service.environment);
    expect(requests()).toEqual(['render 420', 'render 430']);
    service.put(430, 'New terms', 'Terms');
    const { output } = await cli(site.directory, ['check'], service.environment);
    expect(output).toContain('Snippet 430 (Key [API key] ::error::) has changed');
    const records = await site.texts('node_modules/.astro/astro-snippets');
    expect(Object.values(records).join()).not.toContain(service.environment.SNIPPETS_API_KEY);
    service.put(430, 'Terms', 'Terms');
  });
});

describe('names that are not known', () => {
  test('are not asked for in a build without edit links', async () => {
    const site = await temporarySite(pages, service);
    requests();
    await site.builds();
    expect(requests()).toEqual(['render 420', 'render 430']);
    const { snippets } = await json<ListOutput>(site, service.environment, 'list');
    expect(snippets.map(({ name }) => name)).toEqual([undefined, undefined]);
  });

  test('are asked for once with edit links, and kept', async () => {
    const site = await temporarySite({ ...pages, 'astro.config.mjs': editLinks }, service);
    const rendered = ['render 420', 'render 430'];
    requests();
    await site.builds();
    expect(requests()).toEqual([...rendered, 'retrieve 420', 'retrieve 430']);
    // No build waits for a name: one that has arrived too late is asked for again.
    for (let build = 0, names = 2; names > 0 && build < 5; build += 1) {
      await site.builds();
      const asked = requests();
      expect(asked).toEqual(expect.arrayContaining(rendered));
      names = asked.length - rendered.length;
    }
    await site.builds();
    expect(requests()).toEqual(rendered);
    expect(await linkedNames(site)).toEqual([
      [420, 'Free-shipping line'],
      [430, 'Terms'],
    ]);
    // A refresh keeps them, and finds nothing changed.
    expect((await site.run('refresh')).output).toBe('Nothing has changed.\n');
    expect(requests()).toEqual(['render 420', 'render 430']);
  });

  test.for([
    ['that refuses connections', 'https://127.0.0.1:9/a'],
    ['that never answers', undefined],
    ['that has no such route', service.renderBaseUrl.replace(/\/[^/]*$/, '/nowhere')],
  ])('are no reason to wait, to fail or to warn with a base URL %s', async ([, url]) => {
    const site = await temporarySite({ ...pages, 'astro.config.mjs': editLinks }, service);
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const environment = {
      ...service.environment,
      SNIPPETS_RETRIEVE_BASE_URL: url ?? `https://127.0.0.1:${port}/a`,
    };
    await site.builds(environment);
    const start = performance.now();
    const output = await site.builds(environment);
    const duration = performance.now() - start;
    expect(output.match(/WARN.*astro-snippets.*/g)).toEqual([expect.stringContaining('Edit links are on')]);
    expect(await linkedNames(site)).toEqual([
      [420, undefined],
      [430, undefined],
    ]);
    // Names may take 5 seconds.
    expect(duration).toBeLessThan(4_500);
  });
});
