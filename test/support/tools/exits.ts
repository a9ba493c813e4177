import { expect } from 'vitest';

/** Waits for a build or a command, and expects its exit status. @returns the output. */
export async function exits(
  status: number,
  running: Promise<{ exitCode: number | null; output: string }>,
): Promise<string> {
  const { exitCode, output } = await running;
  expect(exitCode, output).toBe(status);
  return output;
}
