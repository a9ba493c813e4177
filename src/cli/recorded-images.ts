import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { imageHref } from '../images/image-file.ts';
import type { RecordedImages } from '../images/site-images.ts';
import { type Manifest, outputOf } from '../record/manifest.ts';

/** The images of the last build. Those whose files are gone count as unknown. */
export function recordedImages(file: string, manifest: Manifest): RecordedImages | undefined {
  const { images } = manifest.rules;
  if (images === undefined) return undefined;
  const folder = join(outputOf(file, manifest), images.assets.folder);
  const recorded: RecordedImages = new Map();
  const uses = manifest.snippets.flatMap(({ content }) => content?.images ?? []);
  for (const { url, file, width, height } of uses) {
    if (file === undefined || width === undefined || height === undefined) {
      recorded.set(url, { flaw: 'it could not be downloaded before' });
    } else if (existsSync(join(folder, file))) {
      recorded.set(url, { copy: { file, width, height, href: imageHref(images.assets, file) } });
    }
  }
  return recorded;
}
