import { onTestFinished } from 'vitest';
import { SnippetClient, type SnippetClientOptions } from '../../../src/client/index.ts';
import type { Limits } from '../../../src/client/limits.ts';
import { serviceCertificate } from '../service/authority.ts';
import { instantClock } from '../service/clock.ts';
import { certificate, httpServer } from './tls-server.ts';

// For tests of the client against real servers. Everything that a test opens is closed when it ends, last first.

export const apiKey = 'sk_wire_8d1f27c3a9e64b50';

export function closeAfterwards(thing: { close(): Promise<void> }): void {
  onTestFinished(() => thing.close());
}

export async function serve<T extends { close(): Promise<void> }>(server: Promise<T>): Promise<T> {
  const running = await server;
  closeAfterwards(running);
  return running;
}

/** A client that trusts the server. Its waits end at once. */
export function clientOf(
  server: { origin: string },
  options: Partial<SnippetClientOptions> = {},
): SnippetClient {
  return limitedClientOf(server, {}, options);
}

/** The same with non-public limits. */
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

/** The URL of a server that every command in this process trusts. */
export async function trustedServer(...[answer]: Parameters<typeof httpServer>): Promise<string> {
  return (await serve(httpServer(answer, { using: serviceCertificate() }))).origin;
}
