import { expect, test } from 'vitest';
import { temporaryService } from '../../support/service/service.ts';
import { folderWith } from '../../support/site/folder.ts';
import { cli } from '../../support/tools/cli.ts';

test('a refresh whose new pages exceed its memory limit writes all of them', async () => {
  const service = await temporaryService({ 1: 'the heffalump' });
  const { directory, read, write } = await folderWith({});
  const names = ['a.html', 'b.html', 'c.html'];
  const space = ' '.repeat(33 * 2 ** 20);
  for (const name of names) {
    await write({ [`dist/${name}`]: `<p><snippet-embed id="1"></snippet-embed></p>${space}` });
  }
  expect(await cli(directory, ['inline', 'dist'], service.environment)).toMatchObject({ exitCode: 0 });
  service.put(1, 'the woozle');
  expect(await cli(directory, ['refresh'], service.environment)).toMatchObject({ exitCode: 0 });
  for (const name of names) expect((await read(`dist/${name}`)).trimEnd()).toBe('<p>the woozle</p>');
  expect((await cli(directory, ['check'], service.environment)).exitCode).toBe(0);
});
