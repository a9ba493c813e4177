import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFolder, type Folder, folderWith } from '../support/site/folder.ts';
import { cli, startCli } from '../support/tools/cli.ts';

let folder: Folder;

beforeEach(async () => {
  folder = await createFolder({ 'dist/index.html': '<p>page</p>' });
  return () => folder.remove();
});
afterEach(() => vi.restoreAllMocks());

test('shows colors on a terminal that supports them, unless the environment says otherwise', async () => {
  const stream = { isTTY: true };
  const green = '\u001b[32m  ok\u001b[39m';
  const TERM = 'xterm-256color';
  const { stdout } = await cli(folder.directory, ['doctor'], { TERM }, { stream });
  expect(stdout).toContain(green);
  const without = await cli(folder.directory, ['doctor'], { TERM, FORCE_COLOR: '0' }, { stream });
  expect(without.stdout).not.toContain('\u001b');
  const forced = await cli(folder.directory, ['doctor'], { FORCE_COLOR: '1' });
  expect(forced.stdout).toContain(green);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s ends a watch with status %i after its command, and leaves another watch running',
  async (signal, status) => {
    const other = await folderWith({});
    const build = 'echo running; sleep 1; touch done';
    const one = startCli(folder.directory, ['watch', '--build', build]);
    const two = startCli(other.directory, ['watch', '--build', 'exit 1']);
    await expect.poll(one.output).toContain('running');
    await expect.poll(two.output).toContain('exited with status 1');
    let hasEnded = false;
    two.ended.finally(() => {
      hasEnded = true;
    });
    const waiting = startCli(folder.directory, ['watch', '--build', build]);
    await expect.poll(waiting.output).toContain('Waiting for another astro-snippets process');
    waiting.kill(signal);
    expect((await waiting.ended).exitCode).toBe(status);
    one.kill(signal);
    expect((await one.ended).exitCode).toBe(status);
    // A terminal also sends SIGINT to the command. SIGTERM is passed on.
    expect('done' in (await folder.files())).toBe(signal === 'SIGINT');
    expect(hasEnded).toBe(false);
    two.kill(signal);
    expect((await two.ended).exitCode).toBe(status);
  },
);
