import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { cleanEnvironment } from '../support/environment.ts';

const source = pathToFileURL(join(import.meta.dirname, '../../dist/cli/run-command.js')).href;
let folder: string;
let script: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snippets-run-'));
  script = join(folder, 'run.mjs');
  await writeFile(
    script,
    `import { runCommand } from '${source}';\nprocess.exitCode = await runCommand(process.argv[2]);\n`,
  );
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a command in a process of its own, which exits with what `runCommand` returns. */
function start(command: string, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [script, command], {
    env: { ...cleanEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, as a terminal gives to each command.
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  // A test that fails must not leave its command running.
  onTestFinished(() => void (child.exitCode === null && process.kill(-(child.pid as number), 'SIGKILL')));
  return { pid: child.pid as number, output: () => output, ended };
}

describe.skipIf(process.platform === 'win32')('a shell command', () => {
  test.each([
    ['exit 0', 0],
    ['exit 7', 7],
    ['false && true', 1],
    ['kill -TERM $$', 143],
    ['no-such-command-anywhere', 127],
  ])('%s ends with status %d', async (command, status) => {
    expect(await start(command).ended).toBe(status);
  });

  test('on Ctrl-C, is let finish what it does, and its status is passed on', async () => {
    const { pid, output, ended } = start(
      `trap 'echo cleaned; exit 9' INT; echo begun; while :; do sleep 0.1; done`,
    );
    await vi.waitFor(() => expect(output()).toContain('begun'), { timeout: 60_000 });
    process.kill(-pid, 'SIGINT');
    expect(await ended).toBe(9);
    expect(output()).toContain('cleaned');
  });

  test('on SIGTERM to the process that runs it alone, is asked to terminate too', async () => {
    const { pid, output, ended } = start(
      `trap 'echo cleaned; exit 9' TERM; echo begun; while :; do sleep 0.1; done`,
    );
    await vi.waitFor(() => expect(output()).toContain('begun'), { timeout: 60_000 });
    process.kill(pid, 'SIGTERM');
    expect(await ended).toBe(9);
    expect(output()).toContain('cleaned');
  });

  test('that cannot be started because it is too long has status 127, and is not shown', async () => {
    const code = `import { runCommand } from '${source}';
process.exitCode = await runCommand('#'.repeat(3_000_000) + 'sk_secret');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code]);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect(output).toContain('The shell could not be started: E2BIG');
    expect(output).not.toContain('sk_secret');
    expect(status).toBe(127);
  });
});
