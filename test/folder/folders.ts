import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, expect } from 'vitest';
import { sharedService } from '../support/site/built-site.ts';
import type { Folder } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';

export const embed = (id: number): string => `<snippet-embed id="${id}"></snippet-embed>`;

/** The text of a gzipped file. */
export async function unzipped({ directory }: Folder, name: string): Promise<string> {
  return gunzipSync(await readFile(join(directory, name))).toString();
}

type Where = Pick<Folder, 'directory'>;

/** For a test file: a service with snippets 1 and 2, and commands that use it. */
export async function withService() {
  const service = await sharedService({});
  beforeEach(() => {
    service.put(1, '<b>one</b>');
    service.put(2, 'two & more');
  });
  const run = ({ directory }: Where, argv: readonly string[], environment: Record<string, string> = {}) =>
    cli(directory, argv, { ...service.environment, ...environment });
  return {
    service,
    run,
    /** Returns the output. Fails with it on another exit status. */
    async runs(folder: Where, argv: readonly string[], status = 0): Promise<string> {
      const { exitCode, output } = await run(folder, argv);
      expect(exitCode, output).toBe(status);
      return output;
    },
  };
}
