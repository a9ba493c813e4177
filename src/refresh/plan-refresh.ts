import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userError } from '../failures/errors.ts';
import { entryName, listPlaces } from '../failures/places.ts';
import { pathFrom } from '../files/paths.ts';
import { isTemporary } from '../files/write.ts';
import { compareOutput } from '../output/compare-output.ts';
import { describeMismatch, hashOfCopy } from '../output/compressed.ts';
import { type DerivedFile, findDerivedFiles } from '../output/derived/derived-files.ts';
import { describeLaterIntegrations, possibleHashes } from '../output/file-states.ts';
import { listPageCopies, siteFolders } from '../output/page-copies.ts';
import type { SiteFile } from '../output/site-files.ts';
import { findStaleSnippets } from '../record/changes.ts';
import { hashOf, type ManifestFile } from '../record/manifest.ts';
import { count } from '../text/format.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { reasonForPage, reasonForStyles } from './needs-build.ts';
import { pageMaker, type RefreshedSite } from './refreshed-site.ts';

/** Not all pages may fit into memory. */
interface RefreshedPage {
  page: ManifestFile;
  hash: string;
  changed: number[];
  copies: SiteFile[];
  made(): Buffer;
}

export type RefreshPlan = Awaited<ReturnType<typeof planRefresh>>;

// A page is made again as fast as it is read.
const maxKeptBytes = 64 * 1024 * 1024;

/** Makes pages whose snippets have changed, or that a killed refresh was writing, as a build does. */
export async function planRefresh(site: RefreshedSite): Promise<{
  pages: RefreshedPage[];
  /** Made from these pages. Only the command that made them can renew them. */
  stale: DerivedFile[];
  toBuild: {
    name: string;
    reason: string;
  }[];
  modified: string[];
}> {
  const { file, manifest, now, cwd, progress } = site;
  const { output, files, collections, rules, inlinedAt } = manifest;
  const folders = siteFolders(manifest, cwd);
  const plan = {
    ...(await compareOutput(manifest)),
    pages: [] as RefreshedPage[],
    /** Made from these pages. Only the command that made them can renew them. */
    stale: [] as DerivedFile[],
  };
  const refused = new Set(plan.toBuild.map(({ name }) => name));
  const refuse = (name: string, reason: string) => void plan.toBuild.push({ name, reason });
  for (const entry of collections) {
    if (entry.content === now[entry.snippet]?.hash) continue;
    refuse(entryName(entry), 'shows a changed snippet, and which pages use this entry is not known');
  }
  if (!existsSync(output)) return plan;
  const outdated = files
    .filter(({ name }) => !refused.has(name))
    .map((page) => ({ page, changed: findStaleSnippets(manifest, page, now) }))
    .filter(({ page, changed }) => changed.length > 0 || page.expectedHashes);
  const reasonForAll = rules.sanitizes ? 'shows content that only a build sanitizes' : reasonForStyles(site);
  const modified = new Set(plan.modified);
  const changing: SiteFile[] = [];
  const withKey: string[] = [];
  const make = pageMaker(site);
  let keptBytes = 0;
  const planPage = (page: ManifestFile, changed: number[]) => {
    const { name, changedAfterInlining } = page;
    if (modified.delete(name)) return refuse(name, 'was changed after the build');
    const late = `is changed in each build after snippets are inlined (by ${describeLaterIntegrations(manifest)})`;
    if (changedAfterInlining) return refuse(name, late);
    if (reasonForAll) return refuse(name, reasonForAll);
    const made = make(page);
    const reason = reasonForPage(page, made, changed, site);
    if (reason) return refuse(name, reason);
    const file = join(output, name);
    const before = readFileSync(file);
    const states = possibleHashes(page);
    const copies = listPageCopies(folders, page);
    const others = copies.filter((copy) => !states.has(hashOfCopy(copy, [before, made.bytes]) ?? ''));
    for (const copy of others) refuse(copy.name, describeMismatch(copy, name));
    if (others.length > 0) return;
    if (containsKnownKey(made.bytes)) withKey.push(name);
    if (!made.bytes.equals(before)) changing.push({ file, name });
    keptBytes += made.bytes.length;
    const kept = keptBytes > maxKeptBytes ? undefined : made.bytes;
    plan.pages.push({
      page,
      hash: hashOf(made.bytes),
      changed,
      copies,
      made: () => kept ?? make(page).bytes,
    });
  };
  for (const [index, { page, changed }] of outdated.entries()) {
    progress(() => `${index} of ${count(outdated.length, 'page')} compared`);
    planPage(page, changed);
  }
  if (withKey.length > 0) {
    throw userError('published-key', `The API key would be in ${listPlaces(withKey)}. Nothing was written.`);
  }
  plan.modified = [...modified];
  // There may be files of a killed refresh, and the cache.
  const recorded = new Set(files.flatMap(({ name, copies = [] }) => [name, ...copies]));
  const records = `${pathFrom(output, dirname(file))}/`;
  // Older files, such as pages written by hand, were not made from these pages.
  const mayBeDerived = ({ file, name }: SiteFile) => {
    const isOurs = recorded.has(name) || isTemporary(name) || name.startsWith(records);
    return !isOurs && statSync(file).mtimeMs >= inlinedAt;
  };
  const changedSnippets = new Set(plan.pages.flatMap((page) => page.changed));
  for (const copy of findDerivedFiles(folders, changing, {
    manifest,
    currentContents: now,
    changedSnippets,
    mayBeDerived,
  })) {
    const original = plan.pages.find(({ page }) => page.name === copy.page);
    if (original) {
      const { page, copies } = original;
      copies.push(copy);
      original.page = { ...page, copies: [...(page.copies ?? []), copy.name] };
    } else plan.stale.push(copy);
  }
  return plan;
}
