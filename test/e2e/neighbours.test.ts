import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { certificate, httpServer } from '../support/http/tls-server.ts';
import { createFolder } from '../support/site/folder.ts';
import { cleanEnvironment } from '../support/tools/environment.ts';

const run = promisify(execFile);
const { directory: folder, write, remove } = await createFolder({});
const server = await httpServer((_request, response) => void response.end('{"content":"fine"}'));
afterAll(async () => {
  await server.close();
  await remove();
});

const dist = join(import.meta.dirname, '../../dist');

// Globals of undici and zod, which Astro uses too, and two of this package: the functions that hide keys, and the link from
// `<Snippet>` to the integration. The built-in fetch of Node 22 and 24 does not read them.
const expectedGlobals = new Set([
  'Symbol(undici.globalDispatcher.2)',
  '__zod_globalConfig',
  '__zod_globalRegistry',
  'Symbol(astro-snippets:known-keys)',
  'Symbol(astro-snippets)',
]);

// Compares what other code sees before and after a client is used.
const script = `
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { inspect } from 'node:util';
// Names only: reading a value would initialize the built-in fetch.
const globals = () => new Set(Reflect.ownKeys(globalThis));
const seen = () => [fetch, Headers, Request, Response, FormData, WebSocket];
const isFirst = process.env.FETCH_FIRST !== '';
const before = { globals: globals(), seen: isFirst ? seen() : [], env: { ...process.env } };
// The dispatcher of the built-in fetch: the first on Node 22 and 24, the second later.
const dispatchers = ['undici.globalDispatcher.1', 'undici.globalDispatcher.2'].map((name) => Symbol.for(name));
if (isFirst) await fetch('data:text/plain,first');
const carriers = dispatchers.map((name) => globalThis[name]);

const { default: snippets } = await import(${JSON.stringify(`${dist}/index.js`)});
const { SnippetClient } = await import(${JSON.stringify(`${dist}/client/index.js`)});
snippets();
const { SERVER: renderBaseUrl, CA: ca } = process.env;
const client = new SnippetClient({ apiKey: 'sk_of_other_code', renderBaseUrl, ca });
assert.equal((await client.get(1)).content, 'fine');

// Other code's requests use the same dispatcher and are verified as before.
await assert.rejects(fetch(renderBaseUrl), (error) => /self.signed/.test(error.cause.message));
assert.equal(await (await fetch('data:text/plain,second')).text(), 'second');
await client.close();
await assert.rejects(fetch(renderBaseUrl), (error) => /self.signed/.test(error.cause.message));

const { Agent, Dispatcher1Wrapper } = createRequire(process.env.ROOT)('undici');
const carrier = globalThis[dispatchers[Number.parseInt(process.versions.node) < 26 ? 0 : 1]];
assert.ok(carrier, 'the built-in fetch has a dispatcher');
assert.ok(!(carrier instanceof Agent) && !(carrier instanceof Dispatcher1Wrapper), 'it is not ours');
if (isFirst) {
  assert.ok(carriers.includes(carrier), 'it is the same as before');
  assert.deepEqual(seen(), before.seen);
}
assert.deepEqual({ ...process.env }, before.env);
const added = [...globals()].filter((name) => !before.globals.has(name) && name !== dispatchers[0]);
console.log(JSON.stringify({ version: process.versions.node, added: added.map(String) }));
const hook = globalThis[Symbol.for('astro-snippets:known-keys')];
assert.doesNotMatch(inspect(hook, { depth: Infinity, showHidden: true }), /sk_of_other_code/);
for (const name of ['uncaughtException', 'unhandledRejection', 'SIGINT', 'SIGTERM', 'exit']) assert.equal(process.listenerCount(name), 0);
`;

test.each(['22', '24', '26'])(
  "on Node %s other code's fetch is untouched, and the only new globals are the expected ones",
  async (major) => {
    // Node's binaries come from the registry, since a machine has only one version.
    const home = join(folder, major);
    await write({
      'neighbour.mjs': script,
      [`${major}/package.json`]: JSON.stringify({
        dependencies: { node: major },
        allowScripts: { node: true },
      }),
    });
    // npm is a shell script on Windows.
    const shell = process.platform === 'win32';
    await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: home, timeout: 200_000, shell });
    const file = join(folder, 'neighbour.mjs');
    for (const FETCH_FIRST of ['', 'yes']) {
      const env = {
        ...cleanEnvironment(),
        SERVER: server.origin,
        CA: certificate.ca,
        ROOT: dist,
        FETCH_FIRST,
      };
      const node = join(home, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
      const { stdout } = await run(node, [file], { env, timeout: 30_000 });
      const { version, added } = JSON.parse(stdout);
      expect(version).toMatch(new RegExp(`^${major}\\.`));
      expect(added.filter((name: string) => !expectedGlobals.has(name))).toEqual([]);
    }
  },
);
