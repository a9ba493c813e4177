import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { createApi, renderPath, retrievePath } from './api.ts';
import { type Certificate, createCertificate } from './certificate.ts';
import { type Faults, noFaults } from './faults.ts';
import type { ServiceOptions } from './options.ts';
import { seed } from './seed.ts';
import { openStore, type Store } from './store/index.ts';
import { createWebhookSender, type WebhookSender } from './webhooks.ts';
import { createWebsite } from './website/index.ts';

/** The running service. */
export interface Service {
  /** Base URL of variant B. */
  renderBaseUrl: string;
  /** Base URL of variant A. */
  retrieveBaseUrl: string;
  /** Environment variables for a site on this machine, besides the key. */
  settings: Record<string, string>;
  openApiUrl: string;
  websiteUrl: string;
  /** The authority (PEM) that clients of the API have to trust. */
  certificateAuthority: string;
  store: Store;
  webhooks: WebhookSender;
  /** The current faults. Changes take effect with the next request. */
  faults: Faults;
  /** Makes a link that signs in to the website once. @param person the name that versions are marked with */
  loginLink(organizationId: number, person?: string): string;
  close(): Promise<void>;
}

/**
 * Starts the Snippet Delivery Service on the loopback interface: the API over HTTPS (HTTP/1.1 and HTTP/2),
 * and the website. A new database gets a small organization.
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const certificate = options.certificate ?? (await createCertificate());
  const store = openStore(options.database ?? ':memory:');
  seed(store);
  if (store.setAside !== undefined) {
    const keys = store.keys.adopt(store.setAside) ? 'The API keys stay.' : 'Its API keys could not be read.';
    options.onSetAside?.(
      `The database was made by another version of the playground. It is kept as ${store.setAside}, and a new one begins. ${keys}`,
    );
  }

  const faults: Faults = { ...noFaults, ...options.faults };
  const webhooks = createWebhookSender(store, options.webhooks);
  const parts = { ...options, store, faults, webhooks, settings: () => settings };
  const website = await listen(createWebsite(parts).fetch, options.websitePort);
  const { fetch } = createApi({ ...options, store, faults, websiteUrl: website.origin });
  const api = await listen(fetch as never, options.port, certificate);
  const settings: Record<string, string> = {
    SNIPPETS_RENDER_BASE_URL: api.origin + renderPath,
    SNIPPETS_RETRIEVE_BASE_URL: api.origin + retrievePath,
    ...(options.authorityFile && { SNIPPETS_CA_FILE: options.authorityFile }),
  };

  return {
    renderBaseUrl: api.origin + renderPath,
    retrieveBaseUrl: api.origin + retrievePath,
    settings,
    openApiUrl: `${api.origin}/openapi.json`,
    websiteUrl: website.origin,
    certificateAuthority: certificate.authority,
    store,
    webhooks,
    faults,
    loginLink: (organizationId, person = '') =>
      `${website.origin}/login/${store.sessions.invite({ organizationId, person: person || null })}`,
    async close() {
      await Promise.all([api.close(), website.close(), webhooks.close()]);
      store.close();
    },
  };
}

/** A server that listens. */
interface ListeningServer {
  /** The start of its URLs, such as `https://localhost:4443`. */
  origin: string;
  close(): Promise<void>;
}

/**
 * Listens only on the loopback interface.
 *
 * The API is served over HTTPS alone (specification, sections 1 and 5): plain HTTP gets no answer. The
 * website is served over plain HTTP, which is safe on the loopback interface, and avoids a browser's warning
 * about an unknown certificate.
 */
async function listen(fetch: Hono['fetch'], port = 0, certificate?: Certificate): Promise<ListeningServer> {
  const server = createAdaptorServer(
    certificate
      ? { fetch, createServer: createSecureServer, serverOptions: { ...certificate, allowHTTP1: true } }
      : { fetch },
  );

  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `${certificate ? 'https' : 'http'}://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      // Clients keep connections alive, which would keep the server open.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
