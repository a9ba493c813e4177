import { serviceCertificate } from '../service/authority.ts';
import { images, startImageHost } from './images.ts';

/** Called by Vitest before the first worker starts. One image host per run, so that its URL stays the same. */
export default async function openImageHost(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has started it.
  if (process.env['TEST_IMAGES'] !== undefined) return undefined;
  const answers = {
    '/hero.png': { type: 'image/png', body: images.png, headers: { etag: '"1"' } },
    '/late.jpg': { type: 'image/jpeg', body: images.jpg, headers: { etag: '"1"' } },
  };
  const { host, close } = await startImageHost(answers, serviceCertificate());
  process.env['TEST_IMAGES'] = host;
  return close;
}

/** Its host and port, as in the option `images`. It has `/hero.png` and `/late.jpg`. */
export function imageHost(): string {
  const { TEST_IMAGES } = process.env;
  if (TEST_IMAGES === undefined) throw new Error('The image host is missing: run the tests with Vitest.');
  return TEST_IMAGES;
}
