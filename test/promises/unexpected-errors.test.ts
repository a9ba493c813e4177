import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedSite } from '../support/site/built-site.ts';

// Throws unexpected errors in undici and node:fs at each step of a build. The environment of the build's process names
// the fault.
const { service, site } = await sharedSite(
  { 1: '<b>one</b>' },
  {
    'astro.config.mjs': `
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';

const thrown = { TypeError: new TypeError('broken'), nothing: undefined };
const fault = (step) => {
  const [where, what] = process.env.FAULT?.split(', ') ?? [];
  if (where === step) throw thrown[what];
};
const before = (holder, name, step, isMeant = () => true) => {
  const original = holder[name];
  holder[name] = function (...parameters) {
    if (isMeant(...parameters)) fault(step);
    return Reflect.apply(original, this, parameters);
  };
};
if (!globalThis.hasFaults) {
  globalThis.hasFaults = true;
  const undici = createRequire(${JSON.stringify(join(import.meta.dirname, '../../src/client/'))})('undici');
  undici.Agent = class extends undici.Agent {
    constructor(options) {
      fault('transport open');
      super(options);
    }
  };
  before(undici.Agent.prototype, 'destroy', 'transport close', (...parameters) => parameters.length === 0);
  const { request } = undici;
  undici.request = async (...parameters) => {
    fault('transport write');
    const response = await request(...parameters);
    before(response.body, 'bytes', 'transport read');
    return response;
  };
  const isRecord = (file) => /astro-snippets.manifest/.test(file);
  const isWrittenFirst = (file) => /astro-snippets.manifest.json.snippets.tmp$/.test(file);
  // The last build's manifest is read before the pack is written.
  let packed;
  const isNew = (file) => /manifest.json$/.test(file) && packed === process.env.FAULT;
  const isPack = (file) => {
    packed = process.env.FAULT;
    return isRecord(file);
  };
  before(fs, 'statSync', 'manifest open', isNew);
  before(fs.promises, 'readFile', 'manifest read', isRecord);
  before(fs, 'writeFileSync', 'manifest write', isWrittenFirst);
  before(fs, 'renameSync', 'manifest close', isWrittenFirst);
  before(fs, 'appendFileSync', 'pack write', isPack);
  syncBuiltinESMExports();
}
const driver = {
  getInstance: () => fault('cache open'),
  hasItem: () => true,
  getItem: async () => fault('cache read'),
  setItem: async () => fault('cache write'),
  getKeys: () => [],
  dispose: () => fault('cache close'),
};
export default defineConfig({ integrations: [snippets({ cache: { driver, maxAge: '1h' }, patience: '100ms' })] });`,
    'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  },
);

const works = { exitCode: 0, says: '1 snippet in 1 embed on 1 page' };
const warns = { exitCode: 0, says: 'The snippet cache failed and is not used for this run: REASON' };
const fails = { exitCode: 1, says: 'the last one failed: REASON [unavailable]' };
const endsAtOnce = { exitCode: 1, says: 'REASON [internal-error]' };
// A TypeError is one of code. What is no error at all may come from the network, and is tried again.
const dependsOnWhat = { TypeError: endsAtOnce, nothing: fails };
const hasNoRecord = { exitCode: 1, says: 'could not be written: REASON.' };
const steps = {
  'cache open': warns,
  'cache read': warns,
  'cache write': warns,
  'cache close': works,
  'transport open': endsAtOnce,
  'transport write': dependsOnWhat,
  'transport read': dependsOnWhat,
  'transport close': works,
  'manifest open': hasNoRecord,
  'manifest read': works,
  'manifest write': hasNoRecord,
  'manifest close': hasNoRecord,
  'pack write': hasNoRecord,
};
const reasons = { TypeError: 'broken', nothing: 'undefined' };

test.for(
  Object.entries(steps).flatMap(([step, expected]) =>
    Object.entries(reasons).map(([what, reason]) => {
      const result = 'exitCode' in expected ? expected : expected[what as keyof typeof reasons];
      return { step, what, reason, ...result };
    }),
  ),
)('$step throws $what', async ({ step, what, reason, exitCode, says }) => {
  const result = await site.build({ ...service.environment, FAULT: `${step}, ${what}` });
  expect(result.output).toContain(says.replace('REASON', reason));
  expect(result.output).not.toMatch(/uncaughtException|unhandledRejection/);
  expect(result.exitCode).toBe(exitCode);
});
