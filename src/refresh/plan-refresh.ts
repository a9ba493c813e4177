import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userError } from '../failures/errors.ts';
import { entryName, listPlaces } from '../failures/places.ts';
import type { SnippetWarning } from '../failures/snippet-warning.ts';
import { fileKind } from '../files/file-kind.ts';
import { pathFrom } from '../files/paths.ts';
import { isTemporary } from '../files/write.ts';
import { PolicyWarnings } from '../inlining/policy-warnings.ts';
import { compareOutput, type OutputComparison, type PageToBuild } from '../output/compare-output.ts';
import { describeMismatch, hashOfCopy } from '../output/compressed.ts';
import { type DerivedFile, findDerivedFiles } from '../output/derived/derived-files.ts';
import type { ChangingPage, FileRole } from '../output/derived/site-changes.ts';
import { describeLaterIntegrations, isUnrelated, possibleHashes } from '../output/file-states.ts';
import { listPageCopies, type SiteFolder, siteFolders } from '../output/page-copies.ts';
import type { SiteFile } from '../output/site-files.ts';
import { findStaleSnippets } from '../record/changes.ts';
import { hashOf } from '../record/hash-of.ts';
import type { RecordedFile } from '../record/manifest.ts';
import { NestingWarnings } from '../snippets/nesting-warnings.ts';
import { count } from '../text/format.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { needsBuild, reasonForPage, reasonForSite } from './needs-build.ts';
import { changedSnippets, type MakePage, pageMaker, type SiteToRefresh } from './site-to-refresh.ts';

/** What a refresh would write, and what it could not update. Making a plan writes nothing. */
export interface RefreshPlan extends OutputComparison {
  /** The pages to write. */
  pages: PlannedPage[];
  /** Files that were made from these pages, such as a search index: a refresh does not write them. */
  derivedFiles: DerivedFile[];
  /** Warnings of what the policies of these pages block, and of what does not fit where it stands on them. */
  warnings: SnippetWarning[];
}

/** A page to write. */
export interface PlannedPage {
  /** The page as it is on record, with the names of all its copies in the output. */
  page: RecordedFile;
  /** The hash that the file will have once it is written. */
  hash: string;
  /** The indexes of the page's changed snippets. None if the page only completes a killed refresh. */
  changed: number[];
  /** The files that are written with the page, since they hold the same, perhaps compressed. */
  copies: SiteFile[];
  /** The bytes to write: kept, or made again, as not all pages may fit into memory. */
  makeBytes(): Buffer;
}

/** A page that shows old content of a snippet, or may do so as a refresh was killed. */
type PageToRemake = Pick<PlannedPage, 'page' | 'changed'>;

/**
 * Plans to update all pages whose snippets have changed, and those that a killed refresh was writing. Pages
 * are made as in a build. What a refresh cannot update is in the plan's `toBuild`, with the reason.
 *
 * @throws UserError if a page would contain the API key, or if the pages as generated cannot be read
 */
export async function planRefresh(site: SiteToRefresh): Promise<RefreshPlan> {
  const { manifest, progress } = site;
  const comparison = await compareOutput(manifest);
  const toBuild = [...comparison.toBuild, ...entriesToBuild(site)];
  const plan: RefreshPlan = { ...comparison, toBuild, pages: [], derivedFiles: [], warnings: [] };
  if (!existsSync(manifest.output)) return plan;

  const planner = new PagePlanner(site, plan);
  const pagesToRemake = findPagesToRemake(site, comparison);
  for (const [index, pageToRemake] of pagesToRemake.entries()) {
    progress(() => `${index} of ${count(pagesToRemake.length, 'page')} compared`);
    planner.add(pageToRemake);
  }
  planner.refuseKey();
  plan.warnings = planner.warnings;
  // A page that another program changed needs a build if it has to be made again, else only a warning.
  const namesToRemake = new Set(pagesToRemake.map(({ page }) => page.name));
  plan.modified = comparison.modified.filter((name) => !namesToRemake.has(name));
  planDerivedFiles(site, plan, planner);
  return plan;
}

/** The collection entries whose snippets have changed. */
function entriesToBuild({ manifest, currentContents }: SiteToRefresh): PageToBuild[] {
  return manifest.collections
    .filter(({ snippet, content }) => content !== currentContents[snippet]?.hash)
    .map((entry) => ({ name: entryName(entry), reason: needsBuild.collectionEntry }));
}

/** The pages to make again, without those that already need a build. */
function findPagesToRemake(
  { manifest, currentContents }: SiteToRefresh,
  { toBuild }: OutputComparison,
): PageToRemake[] {
  const refused = new Set(toBuild.map(({ name }) => name));
  return manifest.files
    .filter(({ name }) => !refused.has(name))
    .map((page) => ({ page, changed: findStaleSnippets(manifest, page, currentContents) }))
    .filter(({ page, changed }) => changed.length > 0 || page.expectedHashes);
}

/** How many bytes of new pages are kept in memory. Other pages are made a second time to be written. */
const maxKeptBytes = 64 * 1024 * 1024;

/** Makes pages with their current snippets, one after the other, and adds them to a plan. */
class PagePlanner {
  readonly folders: readonly SiteFolder[];
  /** The pages whose bytes are going to change. */
  readonly changingPages: ChangingPage[] = [];
  /** The names of files that another program has changed, and that still show the contents on record. */
  readonly #modified: ReadonlySet<string>;
  readonly #site: SiteToRefresh;
  readonly #plan: RefreshPlan;
  readonly #makePage: MakePage;
  readonly #policyWarnings: PolicyWarnings;
  readonly #nestingWarnings: NestingWarnings;
  /** Why no page of the site can be updated; `undefined` if pages can be. */
  readonly #reasonForSite: string | undefined;
  /** The names of pages that would contain the API key. */
  readonly #withKey: string[] = [];
  #keptBytes = 0;

  constructor(site: SiteToRefresh, plan: RefreshPlan) {
    this.folders = siteFolders(site.manifest, site.cwd);
    this.#modified = new Set(plan.modified);
    this.#site = site;
    this.#plan = plan;
    this.#makePage = pageMaker(site);
    const changed = changedSnippets(site);
    this.#nestingWarnings = new NestingWarnings(changed);
    this.#policyWarnings = new PolicyWarnings(changed, {
      rule: site.manifest.rules.policy,
      site: site.manifest.urls?.site,
    });
    this.#reasonForSite = reasonForSite(site);
  }

  add({ page, changed }: PageToRemake): void {
    const { name } = page;
    const recordedReason = this.#reasonOnRecord(page);
    if (recordedReason) {
      this.#refuse(name, recordedReason);
      return;
    }
    const inlinedPage = this.#makePage(page);
    this.#policyWarnings.add(name, inlinedPage);
    if (fileKind(name) === 'html') {
      this.#nestingWarnings.add(name, inlinedPage.generated, inlinedPage.embeds);
    }
    const reason = reasonForPage(page, inlinedPage, changed, this.#site);
    if (reason) {
      this.#refuse(name, reason);
      return;
    }

    const file = join(this.#site.manifest.output, name);
    const currentBytes = readFileSync(file);
    const { bytes } = inlinedPage;
    const copies = listPageCopies(this.folders, page);
    if (this.#refuseOtherCopies(page, copies, [currentBytes, bytes])) return;

    if (containsKnownKey(bytes)) this.#withKey.push(name);
    this.#keptBytes += bytes.length;
    const keptBytes = this.#keptBytes > maxKeptBytes ? undefined : bytes;
    const makeBytes = () => keptBytes ?? this.#makePage(page).bytes;
    if (!bytes.equals(currentBytes)) this.changingPages.push({ file, name, page, changed, makeBytes });
    this.#plan.pages.push({ page, hash: hashOf(bytes), changed, copies, makeBytes });
  }

  /**
   * Adds copies that were found in the output to a planned page, and the compressed files beside them.
   *
   * @returns whether the page can still be written with all of them
   */
  addCopies(plannedPage: PlannedPage, found: readonly SiteFile[]): boolean {
    const { page } = plannedPage;
    const copies = [...(page.copies ?? []), ...found.map(({ name }) => name)];
    plannedPage.page = { ...page, copies };
    plannedPage.copies = listPageCopies(this.folders, plannedPage.page);
    const currentBytes = readFileSync(join(this.#site.manifest.output, page.name));
    return !this.#refuseOtherCopies(page, plannedPage.copies, [currentBytes, plannedPage.makeBytes()]);
  }

  get warnings(): SnippetWarning[] {
    return [...this.#nestingWarnings.list, ...this.#policyWarnings.list];
  }

  /** @throws UserError if a page of the plan would contain the API key */
  refuseKey(): void {
    if (this.#withKey.length === 0) return;
    const places = listPlaces(this.#withKey);
    throw userError('published-key', `The API key would be in ${places}. Nothing was written.`);
  }

  #refuse(name: string, reason: string): void {
    this.#plan.toBuild.push({ name, reason });
  }

  /** Why only a build can update a page, as far as the record and the file tell before the page is made. */
  #reasonOnRecord(page: RecordedFile): string | undefined {
    if (this.#modified.has(page.name)) return needsBuild.modified;
    const integrations = describeLaterIntegrations(this.#site.manifest);
    if (page.changedAfterInlining) return needsBuild.changedAfterInlining(integrations);
    if (page.removedAfterInlining) return needsBuild.removedAfterInlining(integrations);
    return this.#reasonForSite;
  }

  /**
   * Refuses to overwrite copies of a page (compressed, or the same bytes) that hold neither its old state nor
   * its new one: they need a build.
   *
   * @param pages the bytes of the page now, and after the refresh
   * @returns whether there are such copies, so that the page is not written either
   */
  #refuseOtherCopies(page: RecordedFile, copies: readonly SiteFile[], pages: readonly Buffer[]): boolean {
    const hashes = possibleHashes(page);
    const others = copies.filter((copy) => !hashes.has(hashOfCopy(copy, pages) ?? ''));
    for (const copy of others) this.#refuse(copy.name, describeMismatch(copy, page.name));
    return others.length > 0;
  }
}

/**
 * Plans for files that were made from the pages: a copy is written with its page. All others can only be made
 * again by the command that made them.
 */
function planDerivedFiles(site: SiteToRefresh, plan: RefreshPlan, planner: PagePlanner): void {
  const { folders, changingPages } = planner;
  const { manifest, currentContents } = site;
  const derivedFiles = findDerivedFiles(folders, {
    manifest,
    currentContents,
    pages: changingPages,
    roleOf: fileRoles(site, new Set(changingPages.flatMap(({ changed }) => changed))),
  });
  const copiesByPage = Map.groupBy(derivedFiles, ({ page }) => page);
  plan.pages = plan.pages.filter((plannedPage) => {
    const copies = copiesByPage.get(plannedPage.page.name);
    return !copies || planner.addCopies(plannedPage, copies);
  });
  const copyFiles = new Set(plan.pages.flatMap(({ copies }) => copies.map(({ file }) => file)));
  // An adapter's copy of the output has copies of pages, too, which are written with the page.
  plan.derivedFiles = derivedFiles.filter(({ page, file }) => !page && !copyFiles.has(file));
}

/** Makes a function that tells what a file has to do with pages that show one of these snippets. */
function fileRoles(
  { recordFile, manifest }: SiteToRefresh,
  changedSnippets: ReadonlySet<number>,
): (file: SiteFile) => FileRole {
  const { output, files } = manifest;
  const unrelated = new Map(manifest.unrelated.map((file) => [file[0], file]));
  const roles = new Map<string, FileRole>();
  for (const { name, copies = [], shows } of files) {
    const role = shows.some((index) => changedSnippets.has(index)) ? 'changing' : 'other';
    for (const recorded of [name, ...copies]) roles.set(recorded, role);
  }
  // The cache folder, and temporary files of a killed refresh, may be in the output: leave them out.
  const recordFolder = `${pathFrom(output, dirname(recordFile))}/`;
  return ({ file, name }) => {
    const role = roles.get(name);
    if (role) return role;
    if (isTemporary(name) || name.startsWith(recordFolder)) return 'changing';
    // A file that was there before, such as a page written by hand, was not made from these pages.
    const earlier = unrelated.get(name);
    const stats = statSync(file);
    if (earlier?.[1] !== stats.size) return 'derived';
    return isUnrelated(earlier, stats) ? 'other' : 'copied';
  };
}
