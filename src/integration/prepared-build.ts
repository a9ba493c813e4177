import { existsSync, mkdirSync, rmSync } from 'node:fs';
import type { CollectionEntry } from '../failures/places.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { OutputVerifier } from '../inlining/verify-output.ts';
import { listEarlierCopy } from '../output/page-copies.ts';
import { distinctFiles, listSiteFiles, type ScannableFile } from '../output/site-files.ts';
import type { Manifest } from '../record/manifest.ts';
import type { RouteToHeaders } from '../settings/versions.ts';
import type { BuildRun } from './build-run.ts';
import { InlinedBuild, type InlinedSite } from './inlined-build.ts';
import { refusePublishedKey } from './published-key.ts';

/**
 * Begins a build, before Astro bundles: fetches the snippets of the last build now, and others when a page
 * announces them.
 *
 * @throws UserError if another build has locked the output, or if no base URL or key is set.
 */
export async function prepareBuild(build: BuildRun): Promise<PreparedBuild> {
  const { output, session, announcements } = build;
  // Astro is about to empty the output folder, so no other build may be writing there.
  await output.lockIfInUse();
  announcements.listen();

  const hadManifest = existsSync(output.manifestFile);
  // Without a manifest, the site never showed a snippet, so the code to fetch them is not loaded.
  const previousManifest = hadManifest ? await prefetchPrevious(build) : undefined;
  await renewEntries(build, previousManifest);
  await session.prepareClasses();
  return new PreparedBuild(build, hadManifest);
}

/** Requests the snippets of the last build ahead. One that is no longer embedded only costs its request. */
async function prefetchPrevious(build: BuildRun): Promise<Manifest | undefined> {
  const { fetcher, previousManifest } = await build.session.open();
  const requests = previousManifest?.snippets ?? [];
  if (requests.length > 0) build.requireConnection('the snippets of the last build');
  // This build is about to change the output, so the record would be wrong, even if the build is killed.
  build.output.removeOldRecord();
  for (const request of requests) fetcher.prefetch(request);
  return previousManifest;
}

/**
 * Has all pages rendered again if an entry of a collection shows other snippets than in the last build:
 * Astro's incremental build would restore pages whose own data is the same, with the old snippets.
 */
async function renewEntries({ site, collected }: BuildRun, previousManifest: Manifest | undefined) {
  const { cacheDir, experimental } = site.config;
  const previousEntries = previousManifest?.collections ?? [];
  if (!experimental.incrementalBuild || collected.length + previousEntries.length === 0) return;

  const { hashOf } = await import('../record/hash-of.ts');
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
      // Astro 5 writes no folder for browsers if all pages are rendered on demand, and none has a script or a style.
      mkdirSync(directory, { recursive: true });
      const files = listSiteFiles([directory], exclude);
      const { files: scannable } = distinctFiles(files.scannable);
      for (const line of files.warnings) build.site.logger.warn(line);
      const plainVerifier = new OutputVerifier(apiKey);
      // The output is searched even if no module mentions an embed: one may come from data, such as a CMS.
      const isPlain =
        build.mayBePlain &&
        !build.announcements.hasIslands &&
        !scannable.some((file) => plainVerifier.checkAndFindEmbed(file));
      // That search ends at the first embed and sees pages before inlining: if it finds one, check all again.
      const verifier = isPlain ? plainVerifier : new OutputVerifier(apiKey);
      const inlinedSite = isPlain
        ? undefined
        : await this.#inlineSite(directory, routeToHeaders, scannable, verifier);

      await verifier.checkOthers(files);
      verifier.removeKey();
      await refusePublishedKey(build, verifier, {
        describe: (names) => `The API key was found in ${names}. These files were removed.`,
      });
      const hasCompressed = files.compressed.length > 0;
      const listing = verifier.takeListing();
      return new InlinedBuild(build, { inlinedSite, verifier, listing, hasCompressed });
    });
    await build.session.close();
    return inlinedBuild;
  }

  /** Inlines a site that may have embeds. Loads most of the code, so it is not called for other sites. */
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
        earlierCopy: listEarlierCopy(site.sources.folders.root, directory),
        laterIntegrations,
        assets: site.config.build.assets,
      },
    };
    const manifest = await inlineOutput(generatedSite, scannable, announcements);
    return manifest && { site: generatedSite, manifest };
  }
}
