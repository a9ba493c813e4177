import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListOutput, WatchOutput } from '../src/cli/json-output.ts';
import { listSnippets, recordOf, type SiteWatch, site, watchSite } from './run-astro.ts';
import type { Publication, Publisher, SiteFacts } from './service/publisher.ts';
import { previewPage } from './site-preview.ts';
import { type BuiltSite, factsOf, placesOf, stylesOf } from './site-record.ts';

/** The publisher of the playground's own site. */
export interface SitePublisher extends Publisher {
  /** Resolves when no attempt is in progress. A failed attempt is repeated later. */
  settled(): Promise<Publication | undefined>;
  stop(): Promise<void>;
}

interface SitePublisherOptions extends Pick<Publisher, 'siteUrl' | 'organizationId'> {
  /** Environment variables for a build of the site. */
  environment: () => Record<string, string>;
  /** The folder that is served. @default the playground's site */
  served?: string;
  /** @default the commands that a user would run, on the playground's site */
  commands?: { watch: typeof watchSite; list: typeof listSnippets };
}

/**
 * Updates the playground's site with `astro-snippets watch`, which is called when something is published, and
 * tracks the progress. Failed updates are repeated until they succeed, so that changes during an outage
 * arrive after it.
 */
export function createSitePublisher({
  siteUrl,
  organizationId,
  environment,
  served = join(site, 'dist'),
  commands = { watch: watchSite, list: listSnippets },
}: SitePublisherOptions): SitePublisher {
  const built: BuiltSite = { siteUrl, served, record: recordOf(served) };
  let watch: SiteWatch | undefined;
  let latest: Publication | undefined;
  let settled = Promise.withResolvers<void>();
  settled.resolve();
  let requestedAt = 0;
  let turnAt = 0;
  /** The time at which a failed build is repeated. */
  let rebuildAt: number | undefined;
  /** Why the site could not be updated. The watch logs it only once. */
  let reason = '';
  /** The snippets of the site, if it has a usable record. */
  let shown: ListOutput['snippets'] | undefined;
  let facts: SiteFacts | undefined;

  /** @param startedAt the start of the measured duration */
  function begin(startedAt: number): void {
    if (latest?.state !== 'running') settled = Promise.withResolvers();
    const failure = latest?.state === 'failed' ? latest.output : latest?.failure;
    latest = { state: 'running', startedAt, output: '', failure };
  }

  function fail(publication: Publication, retryAt?: number): void {
    if (!publication.output.includes(reason)) publication.output += reason;
    Object.assign(publication, { state: 'failed', retryAt });
    settled.resolve();
  }

  async function finish(publication: Publication, at: number): Promise<void> {
    const empty = () => undefined;
    const list: ListOutput | undefined = await commands.list(served, environment()).then(JSON.parse, empty);
    shown = list?.snippets;
    facts = await factsOf(built);
    // Another update may have begun in the meantime.
    if (publication !== latest) return;
    Object.assign(publication, { state: 'done', finishedAt: at, failure: undefined });
    settled.resolve();
  }

  function onEvent(event: WatchOutput): void {
    const at = Date.parse(event.at);
    switch (event.event) {
      case 'checking':
        turnAt = at;
        if (latest?.state === 'failed') begin(latest.startedAt);
        return;
      case 'trouble':
        reason = [event.error.message, event.error.hint].filter(Boolean).join('\n');
        return;
      case 'recovered':
        reason = '';
        return;
      case 'built':
        reason = event.succeeded ? '' : `The build ${event.problem}.`;
        rebuildAt = event.succeeded ? undefined : at + (event.retryMilliseconds ?? 0);
        return;
      case 'waiting':
        // The next turn has what was published after this turn began.
        if (latest?.state !== 'running' || turnAt < requestedAt) return;
        if (event.upToDate) void finish(latest, at);
        else fail(latest, Math.max(at + event.milliseconds, rebuildAt ?? 0));
    }
  }

  function start(): void {
    watch ??= commands.watch(served, environment(), {
      onEvent,
      onOutput(text) {
        if (latest !== undefined && latest.state !== 'done') latest.output += text;
      },
      onEnd(exitCode) {
        watch = undefined;
        rebuildAt = undefined;
        reason = `astro-snippets watch ended with status ${exitCode}.`;
        if (latest?.state === 'running') fail(latest);
      },
    });
  }

  return {
    siteUrl,
    latest: () => latest,
    shown: (id) => shown && placesOf(shown, id),
    facts: () => facts,
    // A build may replace the record meanwhile. The next preview finds the new one.
    preview: (id, contentOf, wanted) => previewPage(id, contentOf, wanted, built).catch(() => undefined),
    styles: async () => stylesOf(await readFile(join(served, 'index.html'), 'utf8').catch(() => ''), siteUrl),
    organizationId,
    apiKey: () => environment()['SNIPPETS_API_KEY'],
    publish(startedAt = Date.now()) {
      requestedAt = Date.now();
      begin(startedAt);
      if (watch === undefined) start();
      else if (rebuildAt === undefined) void watch.check();
      else {
        rebuildAt = undefined;
        // A new watch builds at once, while this watch would wait. The new watch starts when this one has
        // ended.
        void watch.stop().then(() => {
          watch = undefined;
          start();
        });
      }
    },
    async settled() {
      await settled.promise;
      return latest;
    },
    async stop() {
      await watch?.stop();
    },
  };
}
