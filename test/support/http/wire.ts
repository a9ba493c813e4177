import { onTestFinished } from 'vitest';
import { SnippetClient, type SnippetClientOptions } from '../../../src/client/index.ts';
import type { Limits } from '../../../src/client/limits.ts';
import { serviceCertificate } from '../service/authority.ts';
import { instantClock } from '../service/clock.ts';
import { certificate, httpServer } from './tls-server.ts';

// Tests of the client run against real servers. Everything that a test opens is closed when it ends, last
// first.

export const apiKey = 'sk_wire_8d1f27c3a9e64b50';

/** Closes something when the running test ends. */
export function closeAfterwards(thing: { close(): Promise<void> }): void {
  onTestFinished(() => thing.close());
}

/** Waits for a server, and closes it when the running test ends. */
export async function serve<T extends { close(): Promise<void> }>(server: Promise<T>): Promise<T> {
  const running = await server;
  closeAfterwards(running);
  return running;
}

/** Makes a client that trusts the server, and whose waits end at once. */
export function clientOf(
  server: { origin: string },
  options: Partial<SnippetClientOptions> = {},
): SnippetClient {
  return limitedClientOf(server, {}, options);
}

/** Makes such a client with limits that are not public. */
export function limitedClientOf(
  server: { origin: string },
  limits: Partial<Limits>,
  options: Partial<SnippetClientOptions> = {},
): SnippetClient {
  const client = new SnippetClient(
    { apiKey, renderBaseUrl: `${server.origin}/base`, ca: certificate.ca, patience: 0, ...options },
    { clock: instantClock(), limits },
  );
  closeAfterwards(client);
  return client;
}

/** Starts a server that every command in this process trusts. @returns its URL. */
export async function trustedServer(...[answer]: Parameters<typeof httpServer>): Promise<string> {
  return (await serve(httpServer(answer, { using: serviceCertificate() }))).origin;
}
