import { certificate, httpServer, type TestCertificate, type TlsServer } from './tls-server.ts';

const base64 = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAFAAAAAtCAMAAAAOcxyAAAAAA1BMVEXMM8xZdrlVAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAG0lEQVRIie3BgQAAAADDoPlT3+AEVQEAAEDfAA49AAGzsiyVAAAAAElFTkSuQmCC',
  jpg: '/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAoADwDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAMF/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AmAQawAAAAAAAAAAAAAAAAAAAAAD/2Q==',
  /** A JPEG of 60 × 40 pixels that a browser rotates to 40 × 60 because of EXIF data. */
  turned:
    '/9j/4QC8RXhpZgAASUkqAAgAAAAGABIBAwABAAAABgAAABoBBQABAAAAVgAAABsBBQABAAAAXgAAACgBAwABAAAAAgAAABMCAwABAAAAAQAAAGmHBAABAAAAZgAAAAAAAAA4YwAA6AMAADhjAADoAwAABgAAkAcABAAAADAyMTABkQcABAAAAAECAwAAoAcABAAAADAxMDABoAMAAQAAAP//AAACoAQAAQAAADwAAAADoAQAAQAAACgAAAAAAAAA/+IB8ElDQ19QUk9GSUxFAAEBAAAB4GxjbXMEIAAAbW50clJHQiBYWVogB+IAAwAUAAkADgAdYWNzcE1TRlQAAAAAc2F3c2N0cmwAAAAAAAAAAAAAAAAAAPbWAAEAAAAA0y1oYW5keem/Vlo+AbaDI4VVRvdPqgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAKZGVzYwAAAPwAAAAkY3BydAAAASAAAAAid3RwdAAAAUQAAAAUY2hhZAAAAVgAAAAsclhZWgAAAYQAAAAUZ1hZWgAAAZgAAAAUYlhZWgAAAawAAAAUclRSQwAAAcAAAAAgZ1RSQwAAAcAAAAAgYlRSQwAAAcAAAAAgbWx1YwAAAAAAAAABAAAADGVuVVMAAAAIAAAAHABzAFIARwBCbWx1YwAAAAAAAAABAAAADGVuVVMAAAAGAAAAHABDAEMAMAAAWFlaIAAAAAAAAPbWAAEAAAAA0y1zZjMyAAAAAAABDD8AAAXd///zJgAAB5AAAP2S///7of///aIAAAPcAADAcVhZWiAAAAAAAABvoAAAOPIAAAOPWFlaIAAAAAAAAGKWAAC3iQAAGNpYWVogAAAAAAAAJKAAAA+FAAC2xHBhcmEAAAAAAAMAAAACZmkAAPKnAAANWQAAE9AAAApb/9sAQwAbEhQXFBEbFxYXHhwbIChCKyglJShROj0wQmBVZWRfVV1baniZgWpxkHNbXYW1hpCeo6utq2eAvMm6pseZqKuk/9sAQwEcHh4oIyhOKytOpG5dbqSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk/8AAEQgAKAA8AwEiAAIRAQMRAf/EABUAAQEAAAAAAAAAAAAAAAAAAAAD/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABYBAQEBAAAAAAAAAAAAAAAAAAAEBf/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AKAIGaAAAAAAAAAAAAAAAAAAAAAA/9k=',
  gif: 'R0lGODlhFAAKAIAAAExpcTPMzCH5BAUAAAAALAAAAAAUAAoAAAIMjI+py+0Po5y02usKADs=',
  webp: 'UklGRkIAAABXRUJQVlA4IDYAAABwAwCdASoyAB4AP3G41WM0ryqmJAgCkC4JZwDQ1K+wbiQmU+AA/uQBf4u7EcZgBkTFot6YIAA=',
  avif: 'AAAAHGZ0eXBhdmlmAAAAAG1pZjFhdmlmbWlhZgAAANZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAAA+gABAAAAAAAAACoAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABhdjAxAAAAAA5waXRtAAAAAAABAAAAVmlwcnAAAAA4aXBjbwAAAAxhdjFDgSACAAAAABRpc3BlAAAAAAAAADAAAAAgAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAgMAAAAybWRhdBIACgk4FS/7SAhoNIAyGx7CYqTv///xZ+BA3KjC2Pmst6dl4ZQdauDr0A==',
};

/** Small images of one color: PNG 80 × 45, JPEG 60 × 40, GIF 20 × 10, WebP 50 × 30, AVIF 48 × 32. */
export const images = Object.fromEntries(
  Object.entries(base64).map(([name, text]) => [name, Buffer.from(text, 'base64')]),
) as Record<keyof typeof base64, Buffer>;

/** An answer of an image host: an image with its type, or only a status. */
export interface ImageAnswer {
  status?: number;
  type?: string;
  body?: Buffer | string;
  headers?: Record<string, string>;
}

/** A host of images, over TLS. */
export interface ImageHost extends TlsServer {
  /** The host as in the option `images`. */
  host: string;
  /** Answers by path. A list has one answer per request. Other paths are 404. */
  answers: Record<string, ImageAnswer | ImageAnswer[]>;
  /** The requests so far. */
  requests: { path: string; headers: Record<string, string | string[] | undefined> }[];
}

/** Starts a host with these images, by their paths. */
export async function startImageHost(
  answers: Record<string, ImageAnswer>,
  using: Pick<TestCertificate, 'key' | 'cert'> = certificate,
): Promise<ImageHost> {
  const requests: ImageHost['requests'] = [];
  const current: ImageHost['answers'] = { ...answers };
  const server = await httpServer(
    (request, response) => {
      const path = request.url;
      requests.push({ path, headers: { ...request.headers } });
      const found = current[path];
      const answer = Array.isArray(found) ? found.shift() : found;
      const { status = 200, type, body = '', headers = {} } = answer ?? { status: 404 };
      const etag = headers['etag'];
      const isKnown = etag !== undefined && request.headers['if-none-match'] === etag;
      response.writeHead(isKnown ? 304 : status, {
        ...(type === undefined ? {} : { 'content-type': type }),
        ...headers,
      });
      response.end(isKnown ? '' : body);
    },
    { using },
  );
  return { ...server, host: `localhost:${server.port}`, answers: current, requests };
}
