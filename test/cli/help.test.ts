import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageVersion } from '../../src/settings/versions.ts';
import { shellFlaws } from '../docs/shell.ts';
import { cli, testProgram } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

const program = testProgram();
const names = program.commands.map((command) => command.name());
const docs = join(import.meta.dirname, '../../docs');

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test('the help of a command lists its exit statuses', async () => {
  expect((await cli('.', ['check', '--help'])).output).toContain(`
With --exec, the exit status of the command replaces 10 and 3.
`);
  expect((await cli('.', ['check', '--help'])).output).toContain(`
Exit status:
  0   nothing changed
  10  something changed
  3   no usable record: build
  1   failed
  2   wrong usage
`);
});

test.for(names)(
  'the help of %s has all flags that the command takes, those before its name too',
  async (name) => {
    const help = await exits(0, cli('.', [name, '--help']));
    const command = program.commands.find((one) => one.name() === name);
    const flags = [...(command?.options ?? []), ...program.options].flatMap(({ long }) => long ?? []);
    expect(flags).toContain('--manifest');
    for (const flag of flags)
      if (flag !== '--version') expect(help).toMatch(new RegExp(`^  ${flag}\\b`, 'm'));
    expect(help).not.toContain('--version');
  },
);

test.for(['', ...names])(
  'the help of "%s" has an example that works, and a page of the docs that exists',
  async (name) => {
    const help = await exits(0, cli('.', [...(name ? [name] : []), '--help']));
    const example = /^Example:\n {2}(.+)$/m.exec(help)?.[1] ?? '';
    expect(example).toMatch(new RegExp(`^npx astro-snippets ${name}`));
    expect(await shellFlaws(example)).toEqual([]);

    const [, version, file = '', anchor] =
      /^Docs: https:\/\/.*\/blob\/v(.+)\/docs\/([\w-]+\.md)(?:#(.+))?$/m.exec(help) ?? [];
    expect(version).toBe(packageVersion);
    const headings = readFileSync(join(docs, file), 'utf8').matchAll(/^#+ (.+)$/gm);
    const anchors = Array.from(headings, ([, heading = '']) => anchorOf(heading));
    if (anchor) expect(anchors).toContain(anchor);
  },
);

test.for([
  ['check', 40],
  ['inline', 60],
  ['watch', 60],
  ['inline', 100],
  ['refresh', undefined],
] as const)(
  'the help of %s is wrapped at a width of %s, but for commands and URLs',
  async ([name, columns]) => {
    const stream = columns === undefined ? {} : { isTTY: true, columns };
    const help = await exits(0, cli('.', [name, '--help'], {}, { stream }));
    const lines = help.split('\n').filter((line) => !/^(?:Docs: | {2}npx )/.test(line));
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns ?? 80);
    // A note uses the width there is.
    if (name !== 'inline') expect(help).toMatch(/\nFor the commands that it\sruns,/);
  },
);

test('below an error, the help is wrapped at the width of standard error', async () => {
  const { stderr } = await cli('.', ['watch', '--evry', '3'], {}, { stream: { isTTY: true, columns: 50 } });
  expect(stderr).toContain('Did you mean --every?');
  const note = /^For the commands that it runs,.*\n.*/m.exec(stderr)?.[0] ?? '';
  for (const line of note.split('\n')) expect(line.length).toBeLessThanOrEqual(50);
});
