import { createApi, renderPath, retrievePath } from './api.ts';
import { type Certificate, createCertificate } from './certificate.ts';
import { type Faults, noFaults } from './faults.ts';
import type { Publisher } from './publisher.ts';
import { seed } from './seed.ts';
import { listenPlainly, listenSecurely } from './server.ts';
import { Store } from './store/index.ts';
import { createWebhookSender, type SenderOptions, type WebhookSender } from './webhooks.ts';
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
  /** Writes a new login link to the terminal: someone who is not signed in asked for one. */
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

export interface Service {
  /** Base address of variant B. */
  renderBaseUrl: string;
  /** Base address of variant A. */
  retrieveBaseUrl: string;
  /** Where the document that describes the API is. */
  openApiUrl: string;
  /** The website: snippets, keys, requests, faults, account. */
  websiteUrl: string;
  /** What a site that is built on this machine needs in its environment, besides a key. */
  settings: Record<string, string>;
  /** The authority (PEM) that a client of the API has to trust. */
  certificateAuthority: string;
  store: Store;
  webhooks: WebhookSender;
  /** Changed in place, it takes effect with the next request. */
  faults: Faults;
  /** Makes a link that signs in to the website, once. */
  loginLink(organizationId: number): string;
  close(): Promise<void>;
}

/**
 * Starts the Snippet Delivery Service on this machine, on the loopback interface: the API over HTTPS, by HTTP/1.1
 * and HTTP/2, and the website. A new database is filled with a small organization.
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const certificate = options.certificate ?? (await createCertificate());
  const store = new Store(options.database ?? ':memory:');
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
  const website = await listenPlainly(
    createWebsite(
      {
        ...{ store, faults, publisher: options.publisher, webhooks },
        ...{ onSignIn: options.onSignIn ?? (() => {}), onLinkWanted: options.onLinkWanted },
        settings: () => settings,
      },
      sessions,
    ).fetch,
    options.websitePort ?? 0,
  );
  const api = await listenSecurely(
    createApi({
      ...{ store, faults, random: options.random ?? Math.random },
      ...{ websiteUrl: website.origin, beforeAnswer: options.beforeAnswer },
    }).fetch as never,
    certificate,
    options.port ?? 0,
  );
  const renderBaseUrl = api.origin + renderPath;
  const retrieveBaseUrl = api.origin + retrievePath;
  const settings = {
    SNIPPETS_RENDER_BASE_URL: renderBaseUrl,
    SNIPPETS_RETRIEVE_BASE_URL: retrieveBaseUrl,
    ...(options.authorityFile && { NODE_EXTRA_CA_CERTS: options.authorityFile }),
  };
  return {
    renderBaseUrl,
    retrieveBaseUrl,
    settings,
    openApiUrl: `${api.origin}/openapi.json`,
    websiteUrl: website.origin,
    certificateAuthority: certificate.authority,
    store,
    webhooks,
    faults,
    loginLink: (organizationId) => `${website.origin}/login/${sessions.invite(organizationId)}`,
    async close() {
      await Promise.all([api.close(), website.close(), webhooks.close()]);
      store.close();
    },
  };
}
