import { afterAll, beforeEach, expect } from 'vitest';
import { startTestService, type TestService } from '../service/service.ts';
import { type SiteServer, startServer } from './server.ts';
import { createSite, type Site } from './site.ts';

type Files = Record<string, string>;
type Contents = Record<number, string>;

/** Starts a service with these snippets for all tests of a file. Faults are cleared before each test. */
export async function sharedService(contents: Contents): Promise<TestService> {
  const service = await startTestService(contents);
  beforeEach(() => service.clearFaults());
  afterAll(() => service.close());
  return service;
}

/** Creates a site for all tests of a file. */
export async function fileSite(...parameters: Parameters<typeof createSite>): Promise<Site> {
  const site = await createSite(...parameters);
  afterAll(() => site.remove());
  return site;
}

/** Starts a service and creates a site for all tests of a file. */
export async function sharedSite(
  contents: Contents,
  files: Files,
): Promise<{ service: TestService; site: Site }> {
  const service = await sharedService(contents);
  const site = await fileSite(files, service);
  return { service, site };
}

/** Starts a service and `astro dev` for all tests of a file. */
export async function servedSite(
  contents: Contents,
  files: Files,
): Promise<{ service: TestService; site: Site; dev: SiteServer }> {
  const shared = await sharedSite(contents, files);
  const dev = await startServer(shared.site, 'dev', shared.service.environment);
  afterAll(() => dev.stop());
  return { ...shared, dev };
}

/** A site that was built, and its service. */
export interface BuiltSite {
  service: TestService;
  site: Site;
  /** The build's standard output and standard error, in order. */
  output: string;
}

/**
 * Starts a service and builds a site for all tests of a file.
 *
 * @param exitCode the expected exit status of the build.
 */
export async function builtSite(contents: Contents, files: Files, exitCode = 0): Promise<BuiltSite> {
  const { service, site } = await sharedSite(contents, files);
  const built = await site.build();
  expect(built.exitCode, built.output).toBe(exitCode);
  return { service, site, output: built.output };
}
