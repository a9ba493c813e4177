import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shownPath } from '../files/paths.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { OutputVerifier } from '../inlining/verify-output.ts';
import type { LaterFiles } from '../output/final-files.ts';
import type { OutputListing } from '../output/output-listing.ts';
import { listSiteFiles } from '../output/site-files.ts';
import type { Manifest } from '../record/manifest.ts';
import { missingNote } from '../record/record-paths.ts';
import type { BuildRun } from './build-run.ts';
import { refusePublishedKey } from './published-key.ts';

/** A site whose snippets are inlined, and the manifest to write once later integrations are done. */
export interface InlinedSite {
  site: GeneratedSite;
  manifest: Manifest;
}

/** What is known of the output once its snippets are inlined. */
export interface InlinedOutput {
  /** The site and its manifest; `undefined` for a site without snippets, which needs no record. */
  inlinedSite: InlinedSite | undefined;
  /** The verifier that has checked the files of the output so far, and is to check files written later. */
  verifier: OutputVerifier;
  /** The files of the output, with their snippets. */
  listing: OutputListing;
  /** Whether the output has compressed files, which may have been made from pages with embeds. */
  hasCompressed: boolean;
}

/** Cloudflare's plugin writes the secrets for a local preview into this file, which is never deployed. */
const secretsOfPreview = /(?:^|\/)\.dev\.vars(?:\.[^/]*)?$/;

/** A build whose snippets are inlined, while other integrations may still work on the output. */
export class InlinedBuild {
  readonly #build: BuildRun;
  readonly #output: InlinedOutput;

  constructor(build: BuildRun, output: InlinedOutput) {
    this.#build = build;
    this.#output = output;
  }

  /**
   * Checks what other integrations have written since inlining, and writes the record. Called in the very
   * last `astro:build:done`, so that a build that fails in another one leaves no record.
   *
   * @param directory the output folder, to which Astro may have moved the pages
   * @throws UserError if another integration wrote an embed, the API key or a stale compressed file
   */
  async record(directory: string): Promise<void> {
    const { site, output, laterIntegrations } = this.#build;
    const { inlinedSite, verifier, listing, hasCompressed } = this.#output;
    await this.checkServer();
    await this.#build.attempt(async () => {
      const mayHaveLateFiles = site.isServer || laterIntegrations.length > 0 || hasCompressed;
      const later = mayHaveLateFiles ? await this.#checkLateFiles(directory) : undefined;

      // By now, Astro has removed the scripts that only rendered pages: any script left is published.
      for (const line of await verifier.code.warnings(site.sources.parse)) site.logger.warn(line);

      if (inlinedSite) {
        const { recordSite } = await import('../inlining/record-site.ts');
        const { site: generatedSite, manifest } = inlinedSite;
        await recordSite(generatedSite, manifest, listing, later);
      } else {
        // A site without snippets needs no record, so the note that says why there is none is removed.
        rmSync(missingNote(output.manifestFile), { force: true });
      }
    });
  }

  /**
   * Searches the code that renders pages on demand for the API key. Called once Astro has written it, before an adapter
   * moves it, and again in the end: Astro 5 has no hook before that.
   *
   * @throws UserError if a file contains the key. Such files are removed
   */
  async checkServer(): Promise<void> {
    const { site, session } = this.#build;
    const directory = fileURLToPath(site.config.build.server);
    if (!site.isServer || !existsSync(directory)) return;
    await this.#build.attempt(async () => {
      const verifier = new OutputVerifier(session.settings.apiKey);
      const files = Object.values(listSiteFiles([directory], [])).flat();
      const { root } = site.sources.folders;
      const shown = files.map(({ file }) => ({ file, name: shownPath(root, file) }));
      await verifier.checkBinary(shown.filter(({ name }) => !secretsOfPreview.test(name)));
      verifier.removeKey();
      await refusePublishedKey(this.#build, verifier, {
        describe: (names) =>
          `The API key was found in ${names}, which renders pages on demand. These files were removed.`,
        hint: 'Do not read the key from import.meta.env, whose values Vite writes into the bundle: use process.env.SNIPPETS_API_KEY or getSecret of astro:env/server.',
      });
    });
  }

  /**
   * Fails if other integrations wrote an embed or the API key into a file after inlining: copies and precache
   * lists may have been made of it. Fails for compressed files with embeds, too, if their originals are gone.
   */
  async #checkLateFiles(directory: string): Promise<LaterFiles> {
    const { inlinedSite, verifier, listing } = this.#output;
    const { exclude } = this.#build.session.settings;
    const { scannable, unscanned, binary, compressed } = listSiteFiles([directory], exclude);
    const late = listing.removeChanged(scannable);
    const lateUnscanned = listing.removeChanged(unscanned);
    const embedding = late.filter((file) => verifier.checkAndFindEmbed(file));
    await verifier.checkOthers({ scannable, unscanned: lateUnscanned, binary, compressed });
    await refusePublishedKey(this.#build, verifier, {
      describe: (names) => `Another integration wrote the API key into ${names}.`,
    });
    if (embedding.length > 0 || compressed.length > 0) {
      const { refuseLateEmbeds } = await import('./late-files.ts');
      refuseLateEmbeds(embedding, compressed, inlinedSite?.manifest);
    }
    return { late: [...late, ...lateUnscanned], compressed };
  }
}
