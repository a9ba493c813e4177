import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { copyOfEverything, type Everything } from '../support/site/everything.ts';
import { startCommand } from '../support/tools/command.ts';

// Tests that need a real process. All other tests of commands run in the tests' process.

let site: Everything;
beforeEach(async () => {
  site = await copyOfEverything();
});

const start = (arguments_: readonly string[]) => {
  const command = startCommand(site.directory, arguments_, site.service.environment, { isGroup: true });
  const pid = command.process.pid as number;
  // A failed test must not leave its command running.
  onTestFinished(() => void (command.process.exitCode === null && process.kill(-pid, 'SIGKILL')));
  return { ...command, pid };
};

test('a command sets the exit status, and writes results and trouble to different streams', async () => {
  site.service.put(2, 'about them');
  const changed = start(['check', '--exec', 'echo from the command; exit 7']);
  expect((await changed.ended).exitCode).toBe(7);
  expect(changed.stdout()).toBe('Snippet 2 has changed\n    about.html\nfrom the command\n');
  expect(changed.stderr()).toContain('The command of --exec exited with status 7.');
  const wrong = start(['chekc']);
  expect((await wrong.ended).exitCode).toBe(2);
  expect(wrong.stdout()).toBe('');
  expect(wrong.stderr()).toContain('Did you mean check?');
});

test.each([
  ['list', 0, ['list', '--json']],
  ['check', 10, ['check', '--json']],
  ['watch', 0, ['watch', '--json']],
] as const)(
  '%s ends quietly if its output is no longer read, with status %i',
  async (_name, status, command) => {
    site.service.put(2, 'about them');
    const { process: child, stderr, ended } = start(command);
    child.stdout?.destroy();
    expect((await ended).exitCode).toBe(status);
    expect(stderr()).toBe('');
  },
);

describe.skipIf(process.platform === 'win32')('a signal', () => {
  const script = (signal: string) =>
    `trap 'echo cleaned; exit 9' ${signal}; echo begun; while :; do sleep 0.1; done`;

  test.each([
    // Ctrl-C reaches every process of the group, including the command.
    ['SIGINT', 'INT', -1],
    ['SIGTERM', 'TERM', 1],
  ] as const)('%s lets the running command finish its work', async (signal, name, target) => {
    site.service.put(2, 'about them');
    const { pid, output, ended } = start(['check', '--exec', script(name)]);
    await expect.poll(output).toContain('begun');
    process.kill(target * pid, signal);
    expect((await ended).exitCode).toBe(9);
    expect(output()).toContain('cleaned');
  });

  test('SIGTERM ends a watch while the service does not answer, with exit status 143', async () => {
    const held = site.service.hold();
    const { pid, ended } = start(['watch']);
    await held.asked();
    process.kill(pid, 'SIGTERM');
    expect((await ended).exitCode).toBe(143);
  });
});
