import type { ServerResponse } from 'node:http';
import { imageHref, imageType } from '../images/image-file.ts';
import type { Settings } from '../settings/settings.ts';
import type { DevRequest } from './text-responses.ts';

/**
 * A middleware that serves the images of snippets at the URLs that they have on the built site.
 *
 * @param read returns the bytes of an image that a page shows, by its name.
 */
export function serveImages(
  settingsOf: () => Pick<Settings, 'images'>,
  read: (name: string) => Promise<Uint8Array | undefined>,
) {
  return (request: DevRequest, response: ServerResponse, next: (error?: unknown) => void): void => {
    const { images } = settingsOf();
    const [path = ''] = (request.originalUrl ?? request.url ?? '').split('?');
    const folder = images && imageHref(images.assets, '');
    const name = folder !== undefined && path.startsWith(folder) ? path.slice(folder.length) : '';
    const type = imageType(name);
    if (type === undefined) {
      next();
      return;
    }
    read(name).then((bytes) => {
      if (bytes === undefined) return next();
      response.setHeader('content-type', type);
      response.setHeader('content-length', bytes.length);
      response.setHeader('cache-control', 'no-cache');
      response.end(request.method === 'HEAD' ? undefined : bytes);
    }, next);
  };
}
