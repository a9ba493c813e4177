import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type CliResult, cli } from '../support/cli.ts';
import type { Folder } from '../support/folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

export const embed = (id: number): string => `<snippet-embed id="${id}"></snippet-embed>`;

/** The text of a file that was compressed with gzip. */
export async function unzipped({ directory }: Folder, name: string): Promise<string> {
  return gunzipSync(await readFile(join(directory, name))).toString();
}

interface Running {
  service(): TestService;
  run(folder: Where, argv: readonly string[], environment?: Record<string, string>): Promise<CliResult>;
  /** Fails with the output of the command, unless it exits with this status. */
  runs(folder: Where, argv: readonly string[], status?: number): Promise<string>;
}

type Where = Pick<Folder, 'directory'>;

/** For a file of tests: a service with the snippets 1 and 2, and commands that know it. */
export function withService(): Running {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({});
  });
  beforeEach(() => {
    service.clearFaults();
    service.put(1, '<b>one</b>');
    service.put(2, 'two & more');
  });
  afterAll(() => service.close());
  const run: Running['run'] = ({ directory }, argv, environment = {}) =>
    cli(directory, argv, { ...service.environment, ...environment });
  return {
    service: () => service,
    run,
    async runs(folder, argv, status = 0) {
      const { exitCode, output } = await run(folder, argv);
      expect(exitCode, output).toBe(status);
      return output;
    },
  };
}
