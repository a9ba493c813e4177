import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSite, listSnippets, refreshSite, site } from './run-astro.ts';
import type { Publication, Publisher } from './service/publisher.ts';
import { noRecord, type SiteRecord, stylesOf, toSiteRecord } from './site-record.ts';

// The exit status of a refresh that cannot do it.
const needsBuild = 3;
const shortestWait = 5_000;
const longestWait = 5 * 60_000;

export interface SitePublisher extends Publisher {
  /** Resolves when no attempt is under way any more; one that failed may be waiting for its repetition. */
  settled(): Promise<Publication | undefined>;
  /** Ends the repetitions. */
  stop(): void;
}

export interface SitePublisherOptions {
  siteUrl: string;
  /** What a build of the site needs in its environment. */
  environment: () => Record<string, string>;
  /** The folder that is served. @default the playground's site */
  served?: string;
  /** @default the commands that a user would run, on the playground's site */
  commands?: {
    build: typeof buildSite;
    refresh: typeof refreshSite;
    list: typeof listSnippets;
  };
}

/** How long to wait after so many failures in a row, in milliseconds. */
export function waitAfter(failures: number): number {
  return Math.min(longestWait, shortestWait * 2 ** (failures - 1));
}

/**
 * Updates the playground's site: by a refresh of the pages that changed, and where that cannot be, by
 * building it again, beside the one that is served, and putting it in its place when it is good. One at a time: what
 * is published meanwhile is in the one after. What failed is repeated until it succeeds, so that a text that was
 * published during an outage is on the site after it.
 */
export function createSitePublisher({
  siteUrl,
  environment,
  served = join(site, 'dist'),
  commands = { build: buildSite, refresh: refreshSite, list: listSnippets },
}: SitePublisherOptions): SitePublisher {
  const next = `${served}-next`;
  let latest: Publication | undefined;
  let requestedAt = 0;
  let again = false;
  let isBuilt = false;
  let buildMilliseconds: number | undefined;
  let work: Promise<void> | undefined;
  let failures = 0;
  let repetition: NodeJS.Timeout | undefined;
  let record: SiteRecord = noRecord;
  let styles = '';

  async function update(publication: Publication): Promise<boolean> {
    const { exitCode, output } = isBuilt
      ? await commands.refresh(served, next, environment())
      : { exitCode: needsBuild, output: '' };
    publication.output = output;
    return exitCode === needsBuild ? build(publication) : exitCode === 0;
  }

  async function build(publication: Publication): Promise<boolean> {
    publication.how = 'build';
    const start = performance.now();
    const { exitCode, output } = await commands.build(next, environment());
    publication.output += output;
    if (exitCode !== 0) return false;
    await rm(served, { recursive: true, force: true });
    await rename(next, served);
    isBuilt = true;
    buildMilliseconds = performance.now() - start;
    return true;
  }

  async function readSite(): Promise<void> {
    record = await commands.list(served, next, environment()).then(toSiteRecord, () => noRecord);
    styles = await readFile(join(served, 'index.html'), 'utf8').then(
      (page) => stylesOf(page, siteUrl),
      () => '',
    );
  }

  async function updateUntilCurrent(): Promise<void> {
    do {
      again = false;
      const failure = latest?.state === 'failed' ? latest.output : undefined;
      const publication: Publication = {
        ...{ state: 'running', how: 'refresh', startedAt: requestedAt, output: '' },
        ...{ failure, buildMilliseconds },
      };
      latest = publication;
      const isDone = await update(publication).catch((error: Error) => {
        publication.output += error.message;
        return false;
      });
      failures = isDone ? 0 : failures + 1;
      publication.finishedAt = Date.now();
      if (isDone) await readSite();
      publication.state = isDone ? 'done' : 'failed';
    } while (again);
    work = undefined;
    if (latest.state === 'failed') repeatLater(latest);
  }

  function repeatLater(publication: Publication): void {
    const wait = waitAfter(failures);
    publication.retryAt = Date.now() + wait;
    // Unreferenced: a site that cannot be updated does not keep the playground from ending.
    repetition = setTimeout(begin, wait).unref();
  }

  function begin(): void {
    clearTimeout(repetition);
    work ??= updateUntilCurrent();
  }

  return {
    siteUrl,
    latest: () => latest,
    shown: (id) => record(id),
    previewHead: () => styles,
    apiKey: () => environment()['SNIPPETS_API_KEY'],
    publish() {
      requestedAt = Date.now();
      again = true;
      failures = 0;
      begin();
    },
    async settled() {
      await work;
      return latest;
    },
    stop: () => clearTimeout(repetition),
  };
}
