import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { createApi, renderPath, retrievePath } from './api.ts';
import { type Certificate, createCertificate } from './certificate.ts';
import { type Faults, noFaults } from './faults.ts';
import type { Publisher } from './publisher.ts';
import { seed } from './seed.ts';
import { openStore } from './store/index.ts';
import { createWebhookSender, type SenderOptions } from './webhooks.ts';
import { createWebsite } from './website/index.ts';
import { Sessions } from './website/sessions.ts';

export interface ServiceOptions {
  /** Where the API listens. @default 0, any free port */
  port?: number;
  /** Where the website listens. @default 0, any free port */
  websitePort?: number;
  /** The path of the database. @default ':memory:', gone when the service ends */
  database?: string;
  faults?: Partial<Faults>;
  /** Chance, for the faults. @default Math.random */
  random?: () => number;
  /** Awaited before each answer of the API. */
  beforeAnswer?: () => Promise<unknown>;
  /** The site to update when a snippet is published. */
  publisher?: Publisher;
  /** Called when a login link was used: it is spent, and another one may be wanted. */
  onSignIn?: (organizationId: number) => void;
  /** Writes a new login link to where only the owner of this machine reads it: someone asked for one. */
  onLinkWanted?: () => void;
  /** What it shows to its clients. @default a new one, from a new authority */
  certificate?: Certificate;
  /** A file with its authority, for sites that are built on this machine. */
  authorityFile?: string;
  /** How patiently webhooks are sent. */
  webhooks?: SenderOptions;
  /** Called with a line for people when a database of another version was set aside. */
  onSetAside?: (line: string) => void;
}

export type Service = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the Snippet Delivery Service on this machine, on the loopback interface: the API over HTTPS, by HTTP/1.1
 * and HTTP/2, and the website. A new database is filled with a small organization.
 */
export async function startService(options: ServiceOptions = {}) {
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
  const sessions = new Sessions();
  const webhooks = createWebhookSender(store, options.webhooks);
  const parts = { ...options, store, faults, webhooks, settings: () => settings };
  const website = await listen(createWebsite(parts, sessions).fetch, options.websitePort);
  const { fetch } = createApi({ ...options, store, faults, websiteUrl: website.origin });
  const api = await listen(fetch as never, options.port, certificate);
  /** What a site that is built on this machine needs in its environment, besides a key. */
  const settings: Record<string, string> = {
    SNIPPETS_RENDER_BASE_URL: api.origin + renderPath,
    SNIPPETS_RETRIEVE_BASE_URL: api.origin + retrievePath,
    ...(options.authorityFile && { NODE_EXTRA_CA_CERTS: options.authorityFile }),
  };
  return {
    /** Base address of variant B. */
    renderBaseUrl: api.origin + renderPath,
    /** Base address of variant A. */
    retrieveBaseUrl: api.origin + retrievePath,
    settings,
    /** Where the document that describes the API is. */
    openApiUrl: `${api.origin}/openapi.json`,
    /** The website: snippets, keys, requests, faults, account. */
    websiteUrl: website.origin,
    /** The authority (PEM) that a client of the API has to trust. */
    certificateAuthority: certificate.authority,
    store,
    webhooks,
    /** Changed in place, it takes effect with the next request. */
    faults,
    /** Makes a link that signs in to the website, once. */
    loginLink: (organizationId: number) => `${website.origin}/login/${sessions.invite(organizationId)}`,
    async close(): Promise<void> {
      await Promise.all([api.close(), website.close(), webhooks.close()]);
      store.close();
    },
  };
}

/**
 * Listens on the loopback interface: a playground has no business on a network.
 *
 * With a certificate, it serves HTTPS alone, as the API has to (specification, sections 1 and 5): whoever speaks plain
 * HTTP to its port gets no answer. The website is served over plain HTTP: on the loopback interface nobody listens in,
 * and a browser would greet a newcomer with a warning of a certificate that nobody but this machine knows.
 */
async function listen(fetch: Hono['fetch'], port = 0, certificate?: Certificate) {
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
      // Connections are kept alive by their clients, and would keep the server open with them.
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
