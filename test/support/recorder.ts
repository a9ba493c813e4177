import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A stand-in for a service that recipes of the docs call. */
export interface Recorder {
  /** `http://127.0.0.1:…` */
  url: string;
  /** What was posted. */
  calls: { path: string | undefined; body: string; authorization: string | undefined }[];
  /** What it answers. */
  status: number;
  close(): Promise<void>;
}

export async function startRecorder(): Promise<Recorder> {
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = await text(request);
    if (method === 'POST') recorder.calls.push({ path: url, body, authorization: headers.authorization });
    response.writeHead(recorder.status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const recorder: Recorder = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    status: 200,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
  return recorder;
}
