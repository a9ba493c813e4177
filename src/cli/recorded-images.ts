import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedImages } from '../images/site-images.ts';
import { hashOf, type Manifest, outputOf, requestsOf } from '../record/manifest.ts';

/** The images of the last build. Those whose files are gone count as unknown. */
export function recordedImages(file: string, manifest: Manifest): RecordedImages | undefined {
  const { images } = manifest.rules;
  if (images === undefined) return undefined;
  const folder = join(outputOf(file, manifest), images.assets.folder);
  const contents = new Map(
    requestsOf(manifest).map(({ key }, index) => [key, manifest.snippets[index]?.content] as const),
  );
  const uses = [...contents.values()].flatMap((content) => content?.images ?? []);
  const served = new Map(
    uses
      .filter((use) => use.file !== undefined && existsSync(join(folder, use.file)))
      .map((use) => [use.url, use]),
  );
  return {
    byUrl: (url) => served.get(url),
    of({ key }, content) {
      const recorded = contents.get(key);
      const shown = recorded?.images ?? [];
      const isWhole = shown.every(({ url, file }) => file === undefined || served.has(url));
      return isWhole && recorded?.hash === hashOf(content) ? shown : undefined;
    },
  };
}
