import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSite, refreshSite, site } from './run-astro.ts';
import type { Publication, Publisher } from './service/publisher.ts';

const served = join(site, 'dist');
const next = join(site, 'dist-next');
// The exit status of a refresh that cannot do it.
const needsBuild = 3;

export interface SitePublisher extends Publisher {
  /** Resolves when nothing is under way any more. */
  settled(): Promise<Publication | undefined>;
}

/**
 * Brings the playground's site up to date: by a refresh of the pages that changed, and where that cannot be, by
 * building it again, beside the one that is served, and putting it in its place when it is good. One at a time: what
 * is published meanwhile is in the one after.
 */
export function createSitePublisher(
  siteUrl: string,
  environment: () => Record<string, string>,
): SitePublisher {
  let latest: Publication | undefined;
  let again = false;
  let isBuilt = false;
  let buildMilliseconds: number | undefined;
  let work: Promise<void> | undefined;

  async function update(publication: Publication): Promise<void> {
    const { exitCode, output } = isBuilt
      ? await refreshSite(served, environment())
      : { exitCode: needsBuild, output: '' };
    publication.output = output;
    if (exitCode === needsBuild) return build(publication);
    publication.state = exitCode === 0 ? 'done' : 'failed';
  }

  async function build(publication: Publication): Promise<void> {
    publication.how = 'build';
    const start = performance.now();
    const { exitCode, output } = await buildSite(next, environment());
    publication.output += output;
    isBuilt = exitCode === 0;
    if (isBuilt) {
      await rm(served, { recursive: true, force: true });
      await rename(next, served);
      buildMilliseconds = performance.now() - start;
    }
    publication.state = isBuilt ? 'done' : 'failed';
  }

  async function updateUntilCurrent(): Promise<void> {
    do {
      again = false;
      latest = { state: 'running', how: 'refresh', startedAt: Date.now(), output: '', buildMilliseconds };
      await update(latest);
      latest.finishedAt = Date.now();
    } while (again);
    work = undefined;
  }

  return {
    siteUrl,
    latest: () => latest,
    publish() {
      again = true;
      work ??= updateUntilCurrent();
    },
    async settled() {
      await work;
      return latest;
    },
  };
}
