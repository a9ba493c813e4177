import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSite, site } from './run-astro.ts';
import type { Publication, Publisher } from './service/publisher.ts';

const served = join(site, 'dist');
const next = join(site, 'dist-next');

export interface SitePublisher extends Publisher {
  /** Resolves when nothing is under way any more. */
  settled(): Promise<Publication | undefined>;
}

/**
 * Brings the playground's site up to date by building it anew, beside the one that is served, and putting it in
 * its place when it is good. One build at a time: what is published meanwhile is in the one after.
 */
export function createSitePublisher(
  siteUrl: string,
  environment: () => Record<string, string>,
): SitePublisher {
  let latest: Publication | undefined;
  let again = false;
  let work: Promise<void> | undefined;

  async function build(publication: Publication): Promise<void> {
    const { exitCode, output } = await buildSite(next, environment());
    publication.output = output;
    if (exitCode === 0) {
      await rm(served, { recursive: true, force: true });
      await rename(next, served);
    }
    publication.finishedAt = Date.now();
    publication.state = exitCode === 0 ? 'done' : 'failed';
  }

  async function buildUntilCurrent(): Promise<void> {
    do {
      again = false;
      latest = { state: 'running', startedAt: Date.now(), output: '' };
      await build(latest);
    } while (again);
    work = undefined;
  }

  return {
    siteUrl,
    latest: () => latest,
    publish() {
      again = true;
      work ??= buildUntilCurrent();
    },
    async settled() {
      await work;
      return latest;
    },
  };
}
