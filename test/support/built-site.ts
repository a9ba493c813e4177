import { afterAll, expect } from 'vitest';
import { startTestService, type TestService } from './service.ts';
import { createSite, type Site } from './site.ts';

export interface BuiltSite {
  service: TestService;
  site: Site;
  /** What the build wrote to standard output and standard error, in order. */
  output: string;
}

/**
 * Builds a site once, for all tests of a file, against a service that has these snippets. Both are removed after them.
 *
 * @param exitCode the status that the build has to end with.
 */
export async function builtSite(
  contents: Record<number, string>,
  files: Record<string, string>,
  exitCode = 0,
): Promise<BuiltSite> {
  const service = await startTestService(contents);
  const site = await createSite(files);
  afterAll(async () => {
    await site.remove();
    await service.close();
  });
  const built = await site.build(service.environment);
  expect(built.exitCode, built.output).toBe(exitCode);
  return { service, site, output: built.output };
}
