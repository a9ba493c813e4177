import { existsSync, rmSync } from 'node:fs';
import type { CollectionEntry } from '../failures/places.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { OutputVerifier } from '../inlining/verify-output.ts';
import { listSiteFiles, type ScannableFile } from '../output/site-files.ts';
import type { Manifest } from '../record/manifest.ts';
import type { RouteToHeaders } from '../settings/versions.ts';
import type { BuildRun } from './build-run.ts';
import { InlinedBuild, type InlinedSite } from './inlined-build.ts';

/**
 * Begins a build, before Astro bundles: fetches the snippets of the last build now, and others when a page
 * announces them.
 *
 * @throws UserError if another build has the output, or if the service is not known.
 */
export async function prepareBuild(build: BuildRun): Promise<PreparedBuild> {
  const { output, session, announcements } = build;
  // Astro is about to empty the output, which may be that of a running build.
  await output.lockIfInUse();
  announcements.listen();

  const hadManifest = existsSync(output.manifestFile);
  // A site that never showed a snippet loads no more than this.
  const previousManifest = hadManifest ? await prefetchPrevious(build) : undefined;
  await renewEntries(build, previousManifest);
  await session.prepareClasses();
  return new PreparedBuild(build, hadManifest);
}

/** Requests the snippets of the last build. One that is no longer embedded costs only a request. */
async function prefetchPrevious(build: BuildRun): Promise<Manifest | undefined> {
  const { fetcher, previousManifest } = await build.session.open();
  const requests = previousManifest?.snippets ?? [];
  if (requests.length > 0) build.requireConnection('the snippets of the last build');
  // From here on, the record would be wrong, even if this build is killed.
  build.output.removeOldRecord();
  for (const request of requests) fetcher.answers.prefetch(request);
  return previousManifest;
}

/**
 * Has pages rendered again if an entry of a collection shows other snippets than in the last build. Astro's
 * incremental build restores pages whose own data is the same, even then.
 */
async function renewEntries({ site, collected }: BuildRun, previousManifest: Manifest | undefined) {
  const { cacheDir, experimental } = site.config;
  const previousEntries = previousManifest?.collections ?? [];
  if (!experimental.incrementalBuild || collected.length + previousEntries.length === 0) return;

  const { hashOf } = await import('../record/manifest.ts');
  const describe = ({ collection, entry }: CollectionEntry, content: string) =>
    JSON.stringify([collection, entry, content]);
  const states = collected.map((entry) => describe(entry, hashOf(entry.snippet.content)));
  const previousStates = previousEntries.map((entry) => describe(entry, entry.content));
  if (states.sort().join() === previousStates.sort().join()) return;
  rmSync(new URL('incremental-build.json', cacheDir), { force: true });
}

/** A build that waits for its pages. */
export class PreparedBuild {
  readonly #build: BuildRun;
  /** Whether the last build left a manifest, even one that this version cannot read. */
  readonly #hadManifest: boolean;

  constructor(build: BuildRun, hadManifest: boolean) {
    this.#build = build;
    this.#hadManifest = hadManifest;
  }

  /**
   * Inlines snippets into the pages that Astro has generated, and verifies the output.
   *
   * @throws UserError with one report of all failures. Files that are not finished are removed.
   */
  async inline(directory: string, routeToHeaders?: RouteToHeaders): Promise<InlinedBuild> {
    const build = this.#build;
    const inlinedBuild = await build.attempt(async () => {
      const { apiKey, exclude } = build.session.settings;
      const { scannable, unscanned, compressed } = listSiteFiles([directory], exclude);
      const plainVerifier = new OutputVerifier(apiKey);
      // The output has the last word: an embed may come from where no build can see it.
      const isPlain = build.mayBePlain && !scannable.some((file) => plainVerifier.checkAndFindEmbed(file));
      // The first pass ends at an embed, and has seen pages before inlining: verify them afresh.
      const verifier = isPlain ? plainVerifier : new OutputVerifier(apiKey);
      const inlinedSite = isPlain
        ? undefined
        : await this.#inlineSite(directory, routeToHeaders, scannable, verifier);

      await verifier.checkUnscanned(unscanned);
      for (const { file } of verifier.withKey) rmSync(file, { force: true });
      verifier.refuseKey((names) => `The API key was found in ${names}. These files were removed.`);
      const hasCompressed = compressed.length > 0;
      return new InlinedBuild(build, { inlinedSite, verifier, hasCompressed, finishedAt: Date.now() });
    });
    await build.session.close();
    return inlinedBuild;
  }

  /** Loads most of the code, so this is called for sites with embeds alone. */
  async #inlineSite(
    directory: string,
    routeToHeaders: RouteToHeaders | undefined,
    scannable: readonly ScannableFile[],
    verifier: OutputVerifier,
  ): Promise<InlinedSite | undefined> {
    const { site, session, output, announcements, collected, laterIntegrations } = this.#build;
    const { fetcher, previousManifest } = await session.open();
    const search = await session.openSearch();
    const { inlineOutput } = await import('./inline-output.ts');
    const generatedSite: GeneratedSite = {
      settings: session.settings,
      urls: site.urls,
      directory,
      manifestFile: output.manifestFile,
      previousManifest,
      fetcher,
      verifier,
      logger: site.logger,
      astro: {
        search,
        environment: session.environmentFiles,
        routeToHeaders,
        classes: site.classes,
        collected,
        hadManifest: this.#hadManifest,
        laterIntegrations,
        assets: site.config.build.assets,
      },
    };
    const manifest = await inlineOutput(generatedSite, scannable, announcements);
    return manifest && { site: generatedSite, manifest };
  }
}
