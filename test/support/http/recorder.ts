import { text } from 'node:stream/consumers';
import { type LocalServer, startLocalServer } from './local-server.ts';

/** A stand-in for a host that the docs' recipes call, such as a chat or a CI system. */
export interface Recorder extends LocalServer {
  /** The posted bodies. */
  calls: { path: string | undefined; body: string; authorization: string | undefined }[];
  /** The status of all answers. It can be changed. */
  status: number;
}

/** Starts a host that notes what is posted. */
export async function startRecorder(): Promise<Recorder> {
  const server = await startLocalServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = await text(request);
    if (method === 'POST') recorder.calls.push({ path: url, body, authorization: headers.authorization });
    response.writeHead(recorder.status).end();
  });
  const recorder: Recorder = { ...server, calls: [], status: 200 };
  return recorder;
}
