import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startRecorder } from '../../support/http/recorder.ts';
import { fileSite, sharedService } from '../../support/site/built-site.ts';
import { startProcess } from '../../support/tools/command.ts';
import { codeBelow } from '../../support/tools/docs.ts';
import { cleanEnvironment } from '../../support/tools/environment.ts';
import { runWorkflow, triggersOf } from '../../support/tools/workflow.ts';

// Runs the recipes of docs/publishing.md unchanged in a POSIX shell, which Windows does not have.
const describeRecipe = describe.skipIf(process.platform === 'win32');

const [cron = ''] = codeBelow('A plain cron', 'sh', 'docs/publishing.md');
const [hook = '', hookWatch = ''] = codeBelow('Netlify and Vercel build hooks', 'sh', 'docs/publishing.md');
const [workflow = ''] = codeBelow('A scheduled GitHub workflow', 'yaml', 'docs/publishing.md');
const [watch = ''] = codeBelow('Watch', 'sh', 'docs/publishing.md');

const root = join(import.meta.dirname, '../../..');
const record = 'node_modules/.astro/astro-snippets/manifest.json';
const deployFailure = 7;

const service = await sharedService({ 1: 'first' });
/** Stands in for the build hook and GitHub's API. */
const hooked = await startRecorder();
/** Outside the site, since a workflow starts with an empty folder. */
const storage = await mkdtemp(join(tmpdir(), 'snippets-recipes-'));

const scripts = {
  // Stands in for `npm install astro-snippets`. `npm ci` empties node_modules.
  postinstall: 'node install.mjs',
  build: "node -e \"fs.appendFileSync('built', 'x')\" && astro build",
  deploy: 'node deploy.mjs',
};
const package_ = { name: 'site', version: '1.0.0' };
const site = await fileSite({
  'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  'package.json': JSON.stringify({ ...package_, private: true, type: 'module', scripts }),
  'package-lock.json': JSON.stringify({
    ...package_,
    lockfileVersion: 3,
    requires: true,
    packages: { '': package_ },
  }),
  'install.mjs': `import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
mkdirSync('node_modules/.bin', { recursive: true });
symlinkSync('${root}', 'node_modules/astro-snippets');
writeFileSync('node_modules/.bin/astro-snippets', '#!/bin/sh\\nexec "${process.execPath}" "${join(root, 'dist/cli/main.js')}" "$@"\\n', { mode: 0o755 });`,
  'deploy.mjs': `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
if (existsSync('deploy-fails')) process.exit(${deployFailure});
appendFileSync('deployed', readFileSync('dist/index.html', 'utf8').match(/<p>(.*?)<\\/p>/)[1] + '\\n');`,
});
await startShell('node install.mjs').ended;
await site.builds(service.environment);
const copyBuilt = async (from: string, to: string) => {
  for (const folder of ['dist', 'node_modules']) {
    await cp(join(from, folder), join(to, folder), { recursive: true });
  }
};
await copyBuilt(site.directory, storage);
afterAll(async () => {
  await hooked.close();
  await rm(storage, { recursive: true });
});
beforeEach(async () => {
  service.put(1, 'first');
  Object.assign(hooked, { calls: [], status: 200 });
  for (const name of ['built', 'deployed', 'deploy-fails', 'dist', 'node_modules']) {
    await rm(join(site.directory, name), { recursive: true, force: true });
  }
  await copyBuilt(storage, site.directory);
});

function startShell(script: string, environment: Record<string, string> = {}, shell = 'sh') {
  const env = {
    ...cleanEnvironment(),
    ...service.environment,
    // The package is in the site already, so no registry is needed.
    npm_config_offline: 'true',
    ASTRO_TELEMETRY_DISABLED: '1',
    BUILD_HOOK: `${hooked.url}/`,
    ...environment,
  };
  const options = { isGroup: true };
  const {
    process: child,
    output,
    ended,
  } = startProcess(shell, ['-e', '-c', script], site.directory, env, options);
  return {
    output,
    ended,
    // Ctrl-C in a terminal reaches the whole group.
    stop: () => child.exitCode === null && process.kill(-(child.pid as number), 'SIGINT'),
  };
}

const runShell = (script: string, environment?: Record<string, string>, shell?: string) =>
  startShell(script, environment, shell).ended;

const read = (name: string) => readFile(join(site.directory, name), 'utf8').catch(() => '');
const builds = async () => (await read('built')).length;
const deployed = () => read('deployed');

/** How often the site was deployed, by its command or its build hook. */
const deployments = async () => (await deployed()).split('\n').length - 1 + hooked.calls.length;

async function failDeployments(fail: boolean): Promise<void> {
  Object.assign(hooked, { calls: [], status: fail ? 500 : 200 });
  if (fail) await site.write({ 'deploy-fails': '' });
  else await rm(join(site.directory, 'deploy-fails'));
}

const wrongKey = { SNIPPETS_API_KEY: 'sk_unknown_000000' };

describeRecipe.each([
  ['the cron recipe', cron, deployFailure],
  // The exit status of curl --fail.
  ['the build hook recipe', hook, 22],
])('%s', (_name, recipe, failure) => {
  const run = async () => [(await runShell(recipe)).exitCode, await builds(), await deployments()];

  test('builds and deploys once for what was published, and once if there is no record', async () => {
    expect(await run()).toEqual([0, 0, 0]);
    service.put(1, 'second');
    for (let turn = 0; turn < 2; turn++) expect(await run()).toEqual([0, 1, 1]);
    await rm(join(site.directory, record));
    for (let turn = 0; turn < 2; turn++) expect(await run()).toEqual([0, 2, 2]);
  });

  test('fails if the deployment fails, and deploys the next time although nothing has changed since', async () => {
    service.put(1, 'second');
    await failDeployments(true);
    expect([(await runShell(recipe)).exitCode, await builds(), await deployed()]).toEqual([failure, 1, '']);
    await failDeployments(false);
    for (let turn = 0; turn < 2; turn++) expect(await run()).toEqual([0, 2, 1]);
  });
});

describeRecipe.each([
  ['the watch recipe', watch],
  ['the watch recipe for build hooks', hookWatch],
])('%s', (_name, recipe) => {
  /** Runs the recipe until a condition holds, and then ends it with Ctrl-C. */
  async function runUntil(condition: (output: string) => void | Promise<void>): Promise<void> {
    const { output, ended, stop } = startShell(recipe);
    try {
      await vi.waitFor(() => condition(output()), { timeout: 60_000, interval: 100 });
    } finally {
      stop();
      await ended;
    }
  }

  test('refreshes and deploys what was published, and builds if there is no record', async () => {
    const before = service.requests().length;
    await runUntil(() => expect(service.requests().length).toBeGreaterThan(before));
    expect([await builds(), await deployments()]).toEqual([0, 0]);
    service.put(1, 'second');
    await runUntil(async () => expect(await deployments()).toBe(1));
    expect(await builds()).toBe(0);
    expect(await site.read('index.html')).toContain('<p>second</p>');
    await rm(join(site.directory, record));
    await runUntil(async () => expect(await deployments()).toBe(2));
    expect(await builds()).toBe(1);
  });
});

describeRecipe('the GitHub workflow', () => {
  // What actions/cache keeps between runs, newest last.
  const caches: { key: string; folder: string }[] = [];
  let runs = 0;
  /** The commit to check out: on schedule and on a call, the newest one of the default branch. */
  let commit: string;

  beforeEach(async () => {
    caches.length = 0;
    commit = 'c0ffee';
    await save('snippets-c0ffee-0-1', 'node_modules/.astro/astro-snippets');
  });

  async function save(key: string, path: string): Promise<void> {
    runs += 1;
    const folder = join(storage, `cache-${runs}`);
    await cp(join(site.directory, path), folder, { recursive: true });
    caches.push({ key, folder });
  }

  async function use(action: string, inputs: Record<string, string>): Promise<void> {
    const { path = '', key = '', 'restore-keys': prefix = key } = inputs;
    if (action === 'actions/cache/restore@v4') {
      const found = caches.findLast((cache) => cache.key.startsWith(prefix));
      if (found) await cp(found.folder, join(site.directory, path), { recursive: true });
    } else if (action === 'actions/cache/save@v4') await save(key, path);
    else expect(action).toMatch(/^actions\/(checkout|setup-node)@v5$/);
  }

  /** Runs the workflow on a fresh machine. */
  async function run(
    event: 'schedule' | 'push' | 'repository_dispatch' | 'workflow_dispatch',
    environment: Record<string, string> = {},
  ): Promise<{ succeeded: boolean; output: string; summary: string }> {
    expect(Object.keys(triggersOf(workflow))).toContain(event);
    for (const name of ['dist', 'node_modules']) {
      await rm(join(site.directory, name), { recursive: true, force: true });
    }
    const settings = { ...service.environment, ...environment };
    let output = '';
    const outputFile = join(storage, 'step-output');
    await rm(`${outputFile}-summary`, { force: true });
    const context = {
      github: { event_name: event, sha: commit, run_id: runs, run_attempt: 1 },
      secrets: settings,
      vars: settings,
    };
    const succeeded = await runWorkflow(workflow, context, {
      async run(script, variables) {
        await writeFile(outputFile, '');
        const result = await runShell(script, variables, 'bash');
        output += result.output;
        return result.exitCode ?? 1;
      },
      use,
      outputFile: () => outputFile,
    });
    const summary = await readFile(`${outputFile}-summary`, 'utf8').catch(() => '');
    return { succeeded, output, summary };
  }

  const state = async () => [await builds(), await deployed(), caches.length];

  test('builds and deploys once on an API call when a snippet was published, says which, and keeps only the record', async () => {
    const quiet = await run('schedule');
    expect([quiet.succeeded, ...(await state())]).toEqual([true, 0, '', 1]);
    expect(quiet.summary).toContain('Nothing has changed: 1 snippet matches the last build.');

    expect(triggersOf(workflow)['repository_dispatch']).toEqual({ types: ['snippet-published'] });
    service.put(1, 'second');
    const { succeeded, summary } = await run('repository_dispatch');
    expect([succeeded, ...(await state())]).toEqual([true, 1, 'second\n', 2]);
    expect(summary).toContain('<pre>Snippet 1 has changed\n    index.html</pre>');
    expect(await readdir(caches.at(-1)?.folder ?? '')).toContain('manifest.json');
    const paths = Array.from(workflow.matchAll(/^ +path: (.*)$/gm), ([, path]) => path);
    expect(paths).toEqual(Array(2).fill('node_modules/.astro/astro-snippets'));
    expect([(await run('schedule')).succeeded, ...(await state())]).toEqual([true, 1, 'second\n', 2]);
  });

  test('is started by the call in the docs', async () => {
    const [call = ''] = codeBelow('A scheduled GitHub workflow', 'sh', 'docs/publishing.md');
    const { exitCode, output } = await runShell(call, {
      GITHUB_API_URL: hooked.url,
      GITHUB_TOKEN: 'token',
      REPOSITORY: 'owner/site',
    });
    expect(exitCode, output).toBe(0);
    expect(hooked.calls).toEqual([
      {
        path: '/repos/owner/site/dispatches',
        authorization: 'Bearer token',
        body: '{"event_type":"snippet-published"}',
      },
    ]);
  });

  test('builds and deploys on a push although no snippet has changed', async () => {
    expect([(await run('push')).succeeded, ...(await state())]).toEqual([true, 1, 'first\n', 2]);
  });

  test('fails, and deploys nothing, when the key is wrong', async () => {
    service.put(1, 'second');
    for (const event of ['schedule', 'push'] as const) {
      const { succeeded, output } = await run(event, wrongKey);
      expect(succeeded).toBe(false);
      expect(output).toContain('401 Unauthorized');
      expect([await deployed(), caches.length]).toEqual(['', 1]);
    }
  });

  test('deploys a push that failed to deploy once, on the next schedule, although no snippet has changed', async () => {
    commit = 'badcafe';
    await site.write({ 'deploy-fails': '' });
    expect([(await run('push')).succeeded, ...(await state())]).toEqual([false, 1, '', 1]);
    expect([(await run('schedule')).succeeded, ...(await state())]).toEqual([false, 2, '', 1]);
    await rm(join(site.directory, 'deploy-fails'));
    for (let turn = 0; turn < 2; turn++) {
      expect([(await run('schedule')).succeeded, ...(await state())]).toEqual([true, 3, 'first\n', 2]);
    }
  });

  // GitHub keeps only the newest waiting run of a concurrency group.
  test('deploys a push with the call that replaced it while it waited, although no snippet has changed', async () => {
    commit = 'badcafe';
    const { succeeded } = await run('repository_dispatch');
    expect([succeeded, ...(await state())]).toEqual([true, 1, 'first\n', 2]);
  });
});
