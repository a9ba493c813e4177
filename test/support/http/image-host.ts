import { serviceCertificate } from '../service/authority.ts';
import { images, startImageHost } from './images.ts';

/**
 * Starts the image host of this test run. Vitest calls this before the first worker starts, so that all
 * workers use one URL.
 */
export default async function openImageHost(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run may have started the host already.
  if (process.env['TEST_IMAGES'] !== undefined) return undefined;
  const answers = {
    '/hero.png': { type: 'image/png', body: images.png, headers: { etag: '"1"' } },
    '/late.jpg': { type: 'image/jpeg', body: images.jpg, headers: { etag: '"1"' } },
  };
  const { host, close } = await startImageHost(answers, serviceCertificate());
  process.env['TEST_IMAGES'] = host;
  return close;
}

/**
 * The name and port of the image host, as in the option `images`. The host has `/hero.png` and `/late.jpg`.
 */
export function imageHost(): string {
  const { TEST_IMAGES } = process.env;
  if (TEST_IMAGES === undefined) throw new Error('The image host is missing: run the tests with Vitest.');
  return TEST_IMAGES;
}
