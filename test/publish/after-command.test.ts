import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startCommand } from '../support/command.ts';
import { createFolder, type Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let folder: Folder;

beforeAll(async () => {
  service = await startTestService({ 1: 'first' });
});
beforeEach(async () => {
  service.put(1, 'first');
  folder = await createFolder({
    'dist/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    // Records its beginning and its end, so that two at once would show.
    'renew.mjs': `
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
appendFileSync('renewed', 'begin\\n');
await setTimeout(3_000);
appendFileSync('renewed', 'end\\n');
`,
  });
  const inlined = await start('inline', 'dist').ended;
  expect(inlined.exitCode, inlined.output).toBe(0);
  return () => folder.remove();
});
afterAll(() => service.close());

const start = (...arguments_: string[]) => startCommand(folder.directory, arguments_, service.environment);
const renewed = () => readFile(join(folder.directory, 'renewed'), 'utf8').catch(() => '');

test('a refresh waits for the command of another refresh with --after, and does not run its own at the same time', async () => {
  service.put(1, 'second');
  const first = start('refresh', '--after', 'node renew.mjs');
  await expect.poll(renewed, { timeout: 60_000 }).toBe('begin\n');
  const second = start('refresh', '--after', 'node renew.mjs');
  const [one, other] = await Promise.all([first.ended, second.ended]);
  expect(one.exitCode, one.output).toBe(0);
  expect(other.exitCode, other.output).toBe(0);
  expect(other.output).toMatch(
    /^Waiting for the refresh of process \d+ on .*, to end\.\nNothing has changed\./,
  );
  expect(await renewed()).toBe('begin\nend\n');
});
