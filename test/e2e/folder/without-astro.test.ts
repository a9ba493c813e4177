import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { sharedService } from '../../support/site/built-site.ts';
import { createFolder } from '../../support/site/folder.ts';
import { cleanEnvironment } from '../../support/tools/environment.ts';
import { packPackage } from '../../support/tools/registry.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

const service = await sharedService({ 1: '<b>one</b>' });
const folder = await createFolder({ 'www/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' });
afterAll(() => folder.remove());
await install(folder.directory);

/** The packed package with its dependencies, without Astro and msw, as after `npm install --omit=peer`. */
async function install(directory: string): Promise<void> {
  const packed = await packPackage(directory);
  const target = 'node_modules/astro-snippets';
  await mkdir(join(directory, target), { recursive: true });
  // Relative names: GNU tar takes `C:` for the name of a host.
  await execute('tar', ['-xzf', basename(packed), '-C', target, '--strip-components=1'], { cwd: directory });
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(directory, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link, 'junction');
  }
}

/** Runs Node where the package is installed. */
async function node(argv: string[], environment: Record<string, string> = {}, below = '.'): Promise<string> {
  const { stdout } = await execute(process.execPath, argv, {
    cwd: join(folder.directory, below),
    env: { ...cleanEnvironment(), ...environment },
  });
  return stdout;
}
const evaluate = (script: string, ...more: [environment?: Record<string, string>, below?: string]) =>
  node(['--input-type=module', '--eval', script], ...more);

test('Astro cannot be found from the installed package', async () => {
  const script = "import('astro').then(() => process.exit(1), () => {})";
  await evaluate(script, {}, 'node_modules/astro-snippets/dist');
});

test('every command works without Astro, with its variables in a .env file', async () => {
  const { NODE_EXTRA_CA_CERTS, ...variables } = service.environment;
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  // The environment wins over .env.production, and that over .env.local and .env.
  await folder.write({
    '.env': `SNIPPETS_API_KEY=sk_wrong_000000\nSNIPPETS_RENDER_BASE_URL=https://localhost:1\n`,
    '.env.local': lines.slice(0, 1).join('\n'),
    '.env.production': lines.slice(1).join('\n'),
  });
  const environment = { NODE_EXTRA_CA_CERTS };
  const run = (argv: string[], more = {}) =>
    node(['node_modules/astro-snippets/dist/cli/main.js', ...argv], { ...environment, ...more });
  expect(await run(['inline', 'www'])).toContain('1 snippet in 1 embed on 1 page');
  expect(await folder.read('www/index.html')).toBe('<p><b>one</b></p>');
  expect(await run(['list'])).toBe('Snippet 1\n    index.html\n');
  expect(await run(['check'])).toContain('Nothing has changed');
  service.put(1, '<b>two</b>');
  expect(await run(['refresh'])).toBe('Updated index.html\n');
  expect(await folder.read('www/index.html')).toBe('<p><b>two</b></p>');
  expect(await run(['get', '1'])).toBe('<b>two</b>');
  expect(await run(['doctor', '1'])).toContain('Rendering');
  expect(await run(['report'])).toContain('snippets-report.html');
  await expect(run(['check'], { SNIPPETS_API_KEY: 'sk_unknown_000000' })).rejects.toThrow('401 Unauthorized');
});

test('the client works without Astro', async () => {
  const script = `
    import { SnippetClient } from 'astro-snippets/client';
    const { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: renderBaseUrl } = process.env;
    const client = new SnippetClient({ apiKey, renderBaseUrl });
    process.stdout.write((await client.get(1)).content);
    await client.close();`;
  expect(await evaluate(script, service.environment)).toBe('<b>two</b>');
});
