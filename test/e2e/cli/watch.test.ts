import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { copyOfEverything, type Everything } from '../../support/site/everything.ts';
import { type RunningCommand, startCommand } from '../../support/tools/command.ts';

// A real process, clock and builds. test/publish tests the loop itself.

let site: Everything;
beforeEach(async () => {
  site = await copyOfEverything();
});

const deploy = `node -e "fs.appendFileSync('deployed', 'x')"`;
const deployed = () => readFile(join(site.directory, 'deployed'), 'utf8').catch(() => '');

function start(...arguments_: string[]): RunningCommand {
  const command = ['watch', '--every', '1s', '--exec', deploy, ...arguments_];
  const watching = startCommand(site.directory, command, site.service.environment);
  onTestFinished(async () => {
    watching.process.kill('SIGKILL');
    await watching.ended;
  });
  return watching;
}

test('changes written before a watch was killed are deployed when it is started again', async () => {
  const watching = start('--after', 'echo begun; sleep 3');
  site.service.put(2, 'about them');
  await expect.poll(watching.output).toContain('begun');
  watching.process.kill('SIGKILL');
  await watching.ended;
  expect([await site.read('about.html'), await deployed()]).toEqual([
    expect.stringContaining('about them'),
    '',
  ]);
  start('--after', 'exit 0');
  await expect.poll(deployed).toBe('x');
});

test('the command of a check that was killed runs with the next one', async () => {
  site.service.put(2, 'about them');
  const slow = ['check', '--exec', 'echo begun; sleep 3'];
  const checking = startCommand(site.directory, slow, site.service.environment);
  await expect.poll(checking.output).toContain('begun');
  checking.process.kill('SIGKILL');
  await checking.ended;
  site.service.put(2, 'about us');
  expect(await site.run('check', '--exec', deploy)).toMatchObject({ exitCode: 0 });
  expect(await deployed()).toBe('x');
});
