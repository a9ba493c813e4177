import { rmSync } from 'node:fs';
import { statsOf, wasWrittenAfter } from '../files/read.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import type { OutputVerifier } from '../inlining/verify-output.ts';
import { listSiteFiles, type SiteFile } from '../output/site-files.ts';
import type { Manifest } from '../record/manifest.ts';
import { missingNote } from '../record/record-paths.ts';
import type { BuildRun } from './build-run.ts';

/** A site with its snippets, and its manifest, not yet written. */
export interface InlinedSite {
  site: GeneratedSite;
  manifest: Manifest;
}

/** The state of the output when its snippets are inlined. */
export interface InlinedOutput {
  /** `undefined` for a site that needs no record, since it shows no snippets. */
  inlinedSite: InlinedSite | undefined;
  /** Has checked the output. */
  verifier: OutputVerifier;
  /** Whether the output has compressed files, which may have been made from pages with embeds. */
  hasCompressed: boolean;
  /** When the output was finished, in milliseconds since the epoch. Later files are checked, too. */
  finishedAt: number;
}

/** A build whose snippets are inlined, while other integrations may still work on the output. */
export class InlinedBuild {
  readonly #build: BuildRun;
  readonly #output: InlinedOutput;

  constructor(build: BuildRun, output: InlinedOutput) {
    this.#build = build;
    this.#output = output;
  }

  /**
   * Checks what other integrations have written since, and writes the record. Called in the last
   * `astro:build:done` of all, so that a build that fails has no record.
   *
   * @param directory the output folder, to which Astro may have moved the pages
   * @throws UserError if another integration wrote an embed, the API key or a stale compressed file
   */
  async record(directory: string): Promise<void> {
    const { site, output, laterIntegrations } = this.#build;
    const { inlinedSite, verifier, hasCompressed, finishedAt } = this.#output;
    await this.#build.attempt(async () => {
      const mayHaveLateFiles = site.isServer || laterIntegrations.length > 0 || hasCompressed;
      if (mayHaveLateFiles) await this.#checkLateFiles(directory);

      // Astro has now removed the scripts that it rendered pages with. All others are published.
      for (const line of verifier.codeWarnings()) site.logger.warn(line);

      if (inlinedSite) {
        const { recordSite } = await import('../inlining/record-site.ts');
        const { site: generatedSite, manifest } = inlinedSite;
        await recordSite(generatedSite, manifest, mayHaveLateFiles ? finishedAt : undefined);
      } else {
        // A site without snippets needs no record, and no note that it is missing.
        rmSync(missingNote(output.manifestFile), { force: true });
      }
    });
  }

  /**
   * Refuses files that other integrations wrote after the pages, and that hold an embed or the key: copies
   * and precache lists may have been made of them. Refuses compressed files of pages with embeds, too.
   */
  async #checkLateFiles(directory: string) {
    const { inlinedSite, verifier, finishedAt } = this.#output;
    const { exclude } = this.#build.session.settings;
    const { scannable, unscanned, compressed } = listSiteFiles([directory], exclude);
    const isLate = ({ file }: SiteFile) => wasWrittenAfter(statsOf(file), finishedAt);

    const embedding = scannable.filter((file) => isLate(file) && verifier.checkAndFindEmbed(file));
    await verifier.checkUnscanned(unscanned.filter(isLate));
    verifier.refuseKey((names) => `Another integration wrote the API key into ${names}.`);
    if (embedding.length === 0 && !inlinedSite) return;

    const { refuseLateFiles } = await import('./late-files.ts');
    refuseLateFiles(embedding, compressed, inlinedSite?.manifest);
  }
}
