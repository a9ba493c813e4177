import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryService } from '../support/service/service.ts';
import { folderWith } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';

const cyrillic = 'очень-длинный-путь-'.repeat(6);
const embed = '<p><snippet-embed id="1"></snippet-embed></p>';

test.for([
  ['a project under a long path', `${cyrillic}/${cyrillic}`, 'public', 'index.html'],
  ['an output with a long path', '', `public/${cyrillic}/${cyrillic}`, 'index.html'],
  ['a page with a long name', '', 'public', `${'x'.repeat(250)}.html`],
] as const)('%s is inlined and refreshed', async ([, place, output, page]) => {
  const service = await temporaryService({ 1: 'one' });
  const folder = await folderWith({ [join(place, output, page)]: embed });
  const run = (...argv: string[]) => cli(join(folder.directory, place), argv, service.environment);
  for (const [argv, text] of [
    [['inline', output], 'one'],
    [['--output', output, 'refresh'], 'two'],
    [['--output', output, 'refresh', '--after', 'exit 0'], 'three'],
    [['inline', output], 'four'],
  ] as const) {
    service.put(1, text);
    const { exitCode, output: said } = await run(...argv);
    expect(exitCode, said).toBe(0);
    expect(await folder.read(join(place, output, page))).toBe(`<p>${text}</p>`);
  }
  service.put(1, 'five');
  expect(await run('--output', output, 'check', '--exec', 'exit 7')).toMatchObject({ exitCode: 7 });
});
