import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment } from '../../support/environment.ts';
import { createFolder, type Folder } from '../../support/folder.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
// npm is a shell script on Windows.
const shell = process.platform === 'win32';

let service: TestService;
let folder: Folder;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>' });
  folder = await createFolder({ 'www/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' });
  await install(folder.directory);
});
afterAll(async () => {
  await folder.remove();
  await service.close();
});

/** The packed package with its dependencies, and neither Astro nor msw, as `npm install --omit=peer` leaves it. */
async function install(directory: string): Promise<void> {
  const flags = ['--json', '--ignore-scripts', '--pack-destination', directory];
  const { stdout } = await execute('npm', ['pack', ...flags], { cwd: root, shell });
  const [{ filename }] = Object.values(JSON.parse(stdout) as object) as [{ filename: string }];
  const target = 'node_modules/astro-snippets';
  await mkdir(join(directory, target), { recursive: true });
  // Relative names: GNU tar takes what precedes a colon for the name of a host.
  await execute('tar', ['-xzf', filename, '-C', target, '--strip-components=1'], { cwd: directory });
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = join(directory, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link, 'junction');
  }
}

const run = async (arguments_: string[], environment: Record<string, string>) => {
  const command = join(folder.directory, 'node_modules/astro-snippets/dist/cli/main.js');
  const { stdout } = await execute(process.execPath, [command, ...arguments_], {
    cwd: folder.directory,
    env: { ...cleanEnvironment(), ...environment },
  });
  return stdout;
};

test('Astro cannot be found from the installed package', async () => {
  const script = "import('astro').then(() => process.exit(1), () => {})";
  const cwd = join(folder.directory, 'node_modules/astro-snippets/dist');
  await execute(process.execPath, ['--input-type=module', '--eval', script], { cwd });
});

test('every command works without Astro, with its variables in a .env file', async () => {
  const { NODE_EXTRA_CA_CERTS, ...variables } = service.environment;
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
  // The process has the last word, then the file for the mode, then the one that is not committed.
  await folder.write({
    '.env': `SNIPPETS_API_KEY=sk_wrong_000000\nSNIPPETS_RENDER_BASE_URL=https://localhost:1\n`,
    '.env.local': lines.slice(0, 1).join('\n'),
    '.env.production': lines.slice(1).join('\n'),
  });
  const environment = { NODE_EXTRA_CA_CERTS };
  expect(await run(['inline', 'www'], environment)).toContain('1 snippet in 1 embed on 1 page');
  expect(await folder.read('www/index.html')).toBe('<p><b>one</b></p>');
  expect(await run(['list'], environment)).toBe('Snippet 1\n    index.html\n');
  expect(await run(['check'], environment)).toContain('Nothing has changed');
  service.put(1, '<b>two</b>');
  expect(await run(['refresh'], environment)).toBe('index.html is up to date\n');
  expect(await folder.read('www/index.html')).toBe('<p><b>two</b></p>');
  expect(await run(['get', '1'], environment)).toBe('<b>two</b>');
  expect(await run(['doctor', '1'], environment)).toContain('variant');
  expect(await run(['report'], environment)).toContain('snippets-report.html');
  const wrong = { ...environment, SNIPPETS_API_KEY: 'sk_unknown_000000' };
  await expect(run(['check'], wrong)).rejects.toThrow('401 Unauthorized');
});

test('the client works without Astro', async () => {
  const script = `
    import { SnippetClient } from 'astro-snippets/client';
    const { SNIPPETS_API_KEY: apiKey, SNIPPETS_RENDER_BASE_URL: renderBaseUrl } = process.env;
    const client = new SnippetClient({ apiKey, renderBaseUrl });
    process.stdout.write((await client.get(1)).content);
    await client.close();`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: folder.directory,
    env: { ...cleanEnvironment(), ...service.environment },
  });
  expect(stdout).toBe('<b>two</b>');
});
