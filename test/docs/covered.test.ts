import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorTable } from '../../src/failures/error-table.ts';
import { environmentVariables } from '../../src/settings/variable-names.ts';
import { testProgram } from '../support/tools/cli.ts';
import { readPage } from './pages.ts';
import { documentedOptions } from './reference.ts';

// Everything that a user can set, and every error, has to be named by a test. This does not see whether a test checks it.

const root = join(import.meta.dirname, '../..');
const files = globSync('test/**/*.test.ts', { cwd: root, exclude: ['test/.sites/**'] });
const tests = files
  .filter((file) => !/[\\/]docs[\\/]/.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

/** The names that no test contains in this form. */
function unnamed(names: readonly string[], form: (name: string) => RegExp, among = tests): string[] {
  return names.filter((name) => !among.some(({ text }) => form(name).test(text)));
}

/** A name with a hyphen as a whole word, any other in quotes or brackets. */
const asCode = (name: string) =>
  name.includes('-') ? new RegExp(`(?<![\\w-])${name}(?![\\w-])`) : new RegExp(`['"\`[/]${name}['"\`\\]]`);

test('a name that no test contains is found', () => {
  expect(unnamed(['not-found', `no-such-${'code'}`], asCode)).toEqual(['no-such-code']);
});

test('every error code is named by a test', () => {
  expect(Object.keys(errorTable).length).toBeGreaterThan(40);
  expect(unnamed(Object.keys(errorTable), asCode)).toEqual([]);
});

test('every option is set by a test', () => {
  const options = documentedOptions().flatMap(({ name, inner }) => [name, ...inner.map((one) => one.name)]);
  expect(options).toContain('concurrency');
  expect(unnamed(options, (name) => new RegExp(`\\b${name}\\b['"]?[:,]|\\b${name} [}=]`))).toEqual([]);
});

test('every environment variable is set by a test', () => {
  expect(unnamed(Object.values(environmentVariables), (name) => new RegExp(`\\b${name}\\b`))).toEqual([]);
});

test('every command and every flag is run by a test', () => {
  const program = testProgram();
  const commands = program.commands.map((command) => command.name());
  expect(unnamed(commands, (name) => new RegExp(`['"\` ]${name}['"\` ]`))).toEqual([]);
  const flags = [program, ...program.commands].flatMap(({ options }) =>
    options.map(({ long }) => long ?? ''),
  );
  // In test/e2e, other programs have flags of the same names.
  const own = tests.filter(({ file }) => !/[\\/]e2e[\\/]/.test(file));
  expect(unnamed([...new Set(flags)], (name) => new RegExp(`${name}\\b`), own)).toEqual([]);
});

test('every promise names a test that exists', () => {
  const rows = readPage('docs/promises.md')
    .split('\n')
    .filter((line) => line.startsWith('- '));
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const tests = Array.from(
      row.matchAll(/`([\w-]+(?:\/[\w-]+)+)`/g),
      ([, name = '']) => `test/${name}.test.ts`,
    );
    expect(tests.length, row).toBeGreaterThan(0);
    for (const file of tests) expect(files.map((name) => name.replaceAll('\\', '/'))).toContain(file);
  }
});
