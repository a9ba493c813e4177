import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Run } from '../../src/run.ts';
import { parseOptions } from '../../src/settings/options.ts';
import { ClassFile } from '../../src/snippets/class-file.ts';

let root: string;
let file: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'snippets-classes-'));
  file = join(root, 'classes.html');
  return () => rm(root, { recursive: true });
});
const written = () => readFile(file, 'utf8');

test('classes that are added one after another are written once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const classes = new ClassFile(file);
  for (const name of ['b', 'a', 'c']) {
    classes.add([name]);
    classes.writeSoon((error) => expect.unreachable(error.message));
    vi.advanceTimersByTime(50);
    expect(existsSync(file)).toBe(false);
  }
  vi.runAllTimers();
  expect(await written()).toBe('<div class="a b c"></div>\n');
});

test('a class file that could not be written later is an error for the caller, not for the process', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const classes = new ClassFile(join(root, 'file', 'classes.html'));
  new ClassFile(join(root, 'file')).write();
  const errors: Error[] = [];
  classes.add(['a']);
  classes.writeSoon((error) => errors.push(error));
  vi.runAllTimers();
  expect(errors).toHaveLength(1);
});

test('a dev server restores its classes after a build beside it has replaced them', async () => {
  const inDev = new ClassFile(file);
  inDev.add(['a', 'b']);
  inDev.write();
  const inBuild = new ClassFile(file);
  inBuild.add(['a']);
  inBuild.write();
  expect(await written()).toBe('<div class="a"></div>\n');
  inDev.write();
  expect(await written()).toBe('<div class="a b"></div>\n');
});

test.for([
  ['build', true],
  ['dev', true],
  ['preview', false],
  ['sync', false],
] as const)('astro %s creates a class file: %s', async ([command, isCreated]) => {
  const run = new Run(parseOptions({ classes: true }));
  run.begin(command);
  await run.configure({ root: pathToFileURL(`${root}/`) } as never, {} as never);
  expect(existsSync(join(root, '.astro/integrations/astro-snippets/classes.html'))).toBe(isCreated);
});
