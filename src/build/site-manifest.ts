import { asBefore, type Manifest, outputFrom, type RecordedEnvironment } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import { scriptSource } from './edit-links/page-script.ts';
import type { FileRecorder } from './record-files.ts';

export interface RecordedSite {
  /** The file of the manifest. */
  manifest: string;
  /** The output folder. */
  directory: string;
  /** The folder that a build empties: the same, or one that contains it. */
  outDir: string;
  /** The manifest of the last build. */
  before: Manifest | undefined;
  /** How Astro writes the URLs of the site; `undefined` where another generator has written the files. */
  urls?: Manifest['urls'];
  /** The classes for which CSS was made, if the site makes CSS for those of snippets. */
  classes?: readonly string[] | undefined;
  settings: Settings;
  environment: RecordedEnvironment;
}

/** The manifest of a site whose snippets are inlined. */
export function siteManifest(
  { manifest, directory, outDir, before, urls, classes, settings, environment }: RecordedSite,
  { record }: FileRecorder,
): Manifest {
  const { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout } = settings;
  const output = outputFrom(manifest, directory);
  const emptied = outputFrom(manifest, outDir);
  return {
    builtAt: new Date().toISOString(),
    output,
    outDir: emptied === output ? undefined : emptied,
    urls: urls && recordedUrls(urls),
    settings: {
      renderBaseUrl,
      retrieveBaseUrl,
      urlOptions: urlOptions.length === 0 ? undefined : [...urlOptions],
      environment,
      ca,
      concurrency,
      timeout: `${timeout}ms`,
    },
    rules: recordedRules(settings),
    classes: classes && [...classes],
    before: before && asBefore(before),
    ...record,
  };
}

/** The rules for HTML as a manifest has them. */
export function recordedRules({
  html,
  images,
  editLinks,
}: Pick<Settings, 'html' | 'images' | 'editLinks'>): Manifest['rules'] {
  const { sanitize, scripts, strict, policy, links } = html;
  return {
    sanitizes: sanitize !== undefined,
    scripts,
    strict,
    policy,
    // Absent rather than `undefined`, as in a manifest that was read.
    ...(links && { links }),
    ...(editLinks && { editLinks: scriptSource() }),
    ...(images && { images: { hosts: [...images.hosts], assets: images.assets } }),
  };
}

/** Without what decides only how files are named, which is known from their names. */
function recordedUrls({ site, base, trailingSlash }: NonNullable<Manifest['urls']>): Manifest['urls'] {
  return { site, base, trailingSlash };
}
