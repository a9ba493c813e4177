import { watch } from 'node:fs';
import { cp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashOf } from '../../src/record/manifest.ts';
import { startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

const count = 60;
let service: TestService;
let site: Site;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>everywhere</b>', 2: 'somewhere', 3: 'a & b' });
  site = await createSite({
    'src/pages/[page].astro': `---
import { Snippet } from 'astro-snippets/components';
export function getStaticPaths() {
  return Array.from({ length: ${count} }, (_, page) => ({ params: { page: String(page) } }));
}
const isTenth = Number(Astro.params.page) % 10 === 0;
---
<html><head><title><Snippet id={3} /></title></head><body><p><Snippet id={1} /></p>{isTenth && <p><Snippet id={2} /></p>}<i>{Astro.params.page}</i></body></html>`,
    'src/pages/plain.astro': '<p>plain</p>',
  });
});
beforeEach(async () => {
  service.clearFaults();
  service.put(1, '<b>everywhere</b>');
  service.put(2, 'somewhere');
  expect((await site.build(service.environment)).exitCode).toBe(0);
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

async function run(
  arguments_: string[],
  { environment = service.environment as Record<string, string>, killAfter = 0, killOnWrite = false } = {},
) {
  const { process: child, ended } = startCommand(site.directory, arguments_, environment);
  if (killAfter > 0) setTimeout(() => child.kill('SIGKILL'), killAfter);
  const watcher = killOnWrite
    ? watch(join(site.directory, 'dist'), { recursive: true }, () => child.kill('SIGKILL'))
    : undefined;
  return ended.finally(() => watcher?.close());
}

/** The whole output, by name. */
async function contents(folder = 'dist'): Promise<Record<string, string>> {
  const names = await site.list(folder);
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => [name, await readFile(join(site.directory, folder, name), 'utf8')] as const),
    ),
  );
}

/** The output of a full build of the site as it is now. */
async function fullBuild(): Promise<Record<string, string>> {
  await cp(join(site.directory, 'dist'), join(site.directory, 'kept'), { recursive: true });
  const manifest = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
  const record = await readFile(manifest);
  expect((await site.build(service.environment)).exitCode).toBe(0);
  const built = await contents();
  await rm(join(site.directory, 'dist'), { recursive: true });
  await cp(join(site.directory, 'kept'), join(site.directory, 'dist'), { recursive: true });
  await rm(join(site.directory, 'kept'), { recursive: true });
  await writeFile(manifest, record);
  return built;
}

describe('astro-snippets check', () => {
  test('exits with 0 if nothing has changed', async () => {
    expect(await run(['check'])).toEqual({
      exitCode: 0,
      output: 'Nothing has changed: 3 snippets match the last build.\n',
    });
  });
  test('names changed snippets with their pages and exits with 10', async () => {
    service.put(2, 'elsewhere');
    const { exitCode, output } = await run(['check']);
    expect(exitCode).toBe(10);
    expect(output).toContain('Snippet 2 has changed\n    0/index.html\n    10/index.html\n');
    const { changed } = JSON.parse((await run(['check', '--json'])).output);
    const pages = [0, 10, 20, 30, 40, 50].map((page) => ({ file: `${page}/index.html`, url: `/${page}/` }));
    expect(changed).toEqual([{ id: 2, newHash: hashOf('elsewhere'), pages, collections: [] }]);
  });
  test('exits with 1 and the reason if the service is down or the key is missing', async () => {
    service.store.organizations.setSubscription(service.organizationId, 'expired');
    const expired = await run(['check']);
    expect(expired.exitCode).toBe(1);
    expect(expired.output).toContain('402 Payment Required [payment-required]');
    const down = await run(['check'], {
      environment: {
        ...service.environment,
        SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9',
        SNIPPETS_RETRIEVE_BASE_URL: '',
      },
    });
    expect(down).toMatchObject({ exitCode: 1, output: expect.stringContaining('ECONNREFUSED') });
    const without = await run(['check'], { environment: { ...service.environment, SNIPPETS_API_KEY: '' } });
    expect(without).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('SNIPPETS_API_KEY is not set'),
    });
  });
});

test('astro-snippets list names snippets with their pages, without a request', async () => {
  const before = service.requests().length;
  const { exitCode, output } = await run(['list']);
  expect(exitCode).toBe(0);
  expect(output).toContain('Snippet 2\n    0/index.html\n    10/index.html\n');
  expect(service.requests()).toHaveLength(before);
});

test('astro-snippets get shows a snippet as a build would get it, or why it could not be fetched', async () => {
  service.put(4, 'plan {{ plan }}');
  const { exitCode, output } = await run(['get', '4', '--params', '{"plan":"pro"}']);
  expect(exitCode).toBe(0);
  expect(output).toMatch(/^render · \d+(\.\d+)?m?s · 8B · 1 request\nplan pro$/);
  expect(await run(['get', '999'])).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining(
      '404 Not Found: There is no published snippet 999 in this organization. [not-found]',
    ),
  });
  expect(await run(['get', '..'])).toMatchObject({
    exitCode: 2,
    output: expect.stringContaining('A snippet id must be a positive whole number, not "..". [invalid-id]'),
  });
  expect(await run(['get', '4', '--params', '[]'])).toMatchObject({
    exitCode: 2,
    output: expect.stringContaining('params must be a plain object, not an array. [invalid-params]'),
  });
});

describe('astro-snippets refresh', () => {
  test('rewrites only the pages of a changed snippet, to the same bytes as a full build', async () => {
    service.put(2, '<section>elsewhere &amp; longer $&</section>');
    const untouched = await stat(join(site.directory, 'dist/1/index.html'));
    const { exitCode, output } = await run(['refresh']);
    expect(exitCode).toBe(0);
    expect(output.trim().split('\n')).toEqual(
      [0, 10, 20, 30, 40, 50].map((page) => `${page}/index.html is up to date`),
    );
    expect((await stat(join(site.directory, 'dist/1/index.html'))).mtimeMs).toBe(untouched.mtimeMs);
    expect(await contents()).toEqual(await fullBuild());
    expect(await run(['refresh'])).toEqual({ exitCode: 0, output: 'Nothing has changed.\n' });

    // And back: the paragraph that the block replaced is restored.
    service.put(2, 'somewhere');
    expect((await run(['refresh'])).exitCode).toBe(0);
    expect(await contents()).toEqual(await fullBuild());
  });

  test('writes nothing if a snippet fails', async () => {
    service.put(1, 'new');
    Object.assign(service.faults, { failing: 1, failingStatus: 500, only: [3] });
    const before = await contents();
    const { exitCode, output } = await run(['refresh']);
    expect(exitCode).toBe(1);
    expect(output).toContain('Snippet 3: 500 Internal Server Error [server-error]');
    expect(await contents()).toEqual(before);
  });

  test('writes nothing if a page was changed after the build, or the other pages with --skip-modified', async () => {
    service.put(2, 'elsewhere');
    await writeFile(join(site.directory, 'dist/10/index.html'), 'minified');
    const before = await contents();
    const refused = await run(['refresh']);
    expect(refused.exitCode).toBe(3);
    expect(refused.output).toContain('10/index.html was changed after the build\nNothing was written.');
    expect(await contents()).toEqual(before);
    const skipped = await run(['refresh', '--skip-modified']);
    expect(skipped.exitCode).toBe(3);
    const after = await contents();
    expect(after['10/index.html']).toBe('minified');
    expect(after['20/index.html']).toContain('elsewhere');
  });

  test('writes nothing if a page was removed after the build', async () => {
    service.put(2, 'elsewhere');
    await rm(join(site.directory, 'dist/10/index.html'));
    const before = await contents();
    const { exitCode, output } = await run(['refresh']);
    expect(exitCode).toBe(3);
    expect(output).toContain('10/index.html was changed after the build');
    expect(await contents()).toEqual(before);
  });

  test('--dry-run shows each change once, without control characters, and writes nothing', async () => {
    service.put(1, '<b>nowhere</b>\n\u001b[31m<i>\u202egnp</i>');
    service.put(2, 'elsewhere');
    const before = await contents();
    const { exitCode, output } = await run(['refresh', '--dry-run']);
    expect(exitCode).toBe(0);
    expect(output).toContain(`Snippet 1, on 60 pages
    --- on the site
    +++ published
    @@ -1,1 +1,2 @@
    -<p><b>everywhere</b></p>
    +<p><b>nowhere</b>
    +<i>gnp</i></p>
`);
    expect(output.match(/^ {4}\+<p>elsewhere<\/p>$/gm)).toHaveLength(1);
    expect(output).toContain('\n20/index.html would be written\n');
    expect(await contents()).toEqual(before);
  });

  test('leaves every page complete when it is killed, and the next refresh updates the others', async () => {
    const [first, second] = ['<b>everywhere</b>', '<b>everywhere else, and longer</b>'] as const;
    const old = await contents();
    service.put(1, second);
    const fresh = await fullBuild();
    let kills = 0;
    for (let turn = 0; turn < 50; turn++) {
      // Back and forth, so that each turn has all pages to write.
      service.put(1, turn % 2 === 0 ? second : first);
      // At any moment, and in every other turn just after the first page was written.
      const moment =
        turn % 4 < 2 ? { killOnWrite: true } : { killAfter: 150 + Math.floor(Math.random() * 200) };
      const { exitCode } = await run(['refresh'], moment);
      // One that was not killed succeeds, whatever an earlier one left behind.
      expect([null, 0]).toContain(exitCode);
      if (exitCode === null) kills += 1;
      for (const [name, text] of Object.entries(await contents())) {
        if (!name.endsWith('.refresh.tmp')) expect([old[name], fresh[name]], name).toContain(text);
      }
    }
    expect(kills).toBeGreaterThan(10);
    service.put(1, second);
    expect((await run(['refresh'])).exitCode).toBe(0);
    expect(await contents()).toEqual(fresh);
  });
});

test('a site that was moved with its manifest is checked and refreshed in its new folder', async () => {
  const small = await createSite({ 'src/pages/index.html': '<p><snippet-embed id="2"></snippet-embed></p>' });
  const moved = `${small.directory}-moved`;
  try {
    expect((await small.build(service.environment)).exitCode).toBe(0);
    await rename(small.directory, moved);
    const inNewPlace = (name: string) => startCommand(moved, [name], service.environment).ended;
    expect((await inNewPlace('check')).exitCode).toBe(0);
    service.put(2, 'elsewhere');
    expect(await inNewPlace('refresh')).toEqual({ exitCode: 0, output: 'index.html is up to date\n' });
    expect(await readFile(join(moved, 'dist/index.html'), 'utf8')).toContain('<p>elsewhere</p>');
  } finally {
    await rm(moved, { recursive: true, force: true });
    await small.remove();
  }
});

test('refresh --dry-run shows each form of a snippet on a page, and counts the page once', async () => {
  const small = await createSite({
    'src/pages/index.html':
      '<title><snippet-embed id="2"></snippet-embed></title><p><snippet-embed id="2"></snippet-embed></p><i><snippet-embed id="2"></snippet-embed></i><b><snippet-embed id="2"></snippet-embed></b>',
  });
  try {
    expect((await small.build(service.environment)).exitCode).toBe(0);
    service.put(2, 'here & there');
    const { output } = await startCommand(small.directory, ['refresh', '--dry-run'], service.environment)
      .ended;
    expect(output.match(/^Snippet 2, on 1 page$/gm)).toHaveLength(3);
    for (const line of ['here &amp; there', '<p>here & there</p>', 'here & there']) {
      expect(output.split('\n').filter((one) => one === `    +${line}`)).toHaveLength(1);
    }
  } finally {
    await small.remove();
  }
});

test('astro-snippets list says to build the site if the manifest is damaged or absent', async () => {
  const file = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, 200));
  const damaged = await run(['list']);
  expect(damaged.exitCode).toBe(3);
  expect(damaged.output).toContain(`The build manifest at ${file} is damaged. [missing-manifest]`);
  expect(damaged.output).toContain('Build the site once.');
  await rm(file);
  const absent = await run(['list']);
  expect(absent.exitCode).toBe(3);
  expect(absent.output).toContain(`No build manifest found at ${file}. [missing-manifest]`);
  expect(absent.output).toContain(
    'Build the site first, or run `astro-snippets inline` on it, in this folder',
  );
});

describe('a manifest of another version', () => {
  /** Writes the manifest as an older or newer version of this package would. */
  async function writeOther(step: 1 | -1, more: Record<string, unknown> = {}): Promise<void> {
    const file = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...manifest, ...more, version: manifest.version + step }));
  }

  test('is rejected by list, check, refresh and report, which say to build', async () => {
    service.put(2, 'elsewhere');
    const before = await contents();
    for (const step of [1, -1] as const) {
      await writeOther(step);
      for (const name of ['list', 'check', 'refresh', 'report']) {
        const { exitCode, output } = await run([name]);
        expect(exitCode, name).toBe(3);
        expect(output).toContain('was written by another version of astro-snippets.');
        expect(output).toContain('Build the site once.');
      }
      await writeOther(step === 1 ? -1 : 1);
    }
    expect(await contents()).toEqual(before);
    // Only its version was wrong.
    expect((await run(['check'])).exitCode).toBe(10);
  });

  test('is ignored and replaced by a build', async () => {
    await writeOther(1, { snippets: [{ id: 777 }], kinds: [], files: [] });
    const asked = service.requests().length;
    expect((await site.build(service.environment)).exitCode).toBe(0);
    const ids = service
      .requests()
      .slice(asked)
      .map(({ snippetId }) => Number(snippetId));
    expect(ids.sort()).toEqual([1, 2, 3]);
    expect(await run(['check'])).toMatchObject({ exitCode: 0 });
    await run(['report']);
    expect(await readFile(join(site.directory, 'snippets-report.html'), 'utf8')).not.toContain('777');
  });
});

test('astro-snippets suggests a command for an unknown one, and prints its help and version', async () => {
  const wrong = await run(['chekc']);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.output).toContain('Did you mean check?');
  expect((await run(['--help'])).output).toMatch(
    /Commands:\s+inline [\s\S]*list [\s\S]*check [\s\S]*refresh [\s\S]*watch [\s\S]*report [\s\S]*doctor [\s\S]*get /,
  );
  expect((await run(['--version'])).output).toMatch(/^\d+\.\d+\.\d+\n$/);
});
