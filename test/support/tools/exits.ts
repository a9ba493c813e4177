import { expect } from 'vitest';

/** The output of a build or a command. Fails on another exit status. */
export async function exits(
  status: number,
  running: Promise<{ exitCode: number | null; output: string }>,
): Promise<string> {
  const { exitCode, output } = await running;
  expect(exitCode, output).toBe(status);
  return output;
}
