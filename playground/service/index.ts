import { createApi, renderPath, retrievePath } from './api.ts';
import { type Certificate, createCertificate } from './certificate.ts';
import { type Faults, noFaults } from './faults.ts';
import { problemPages } from './problem-pages.ts';
import { type SeededKeys, seed } from './seed.ts';
import { listen } from './server.ts';
import { Store } from './store/index.ts';

export interface ServiceOptions {
  /** @default 0, any free one */
  port?: number;
  /** The path of the database. @default ':memory:', gone when the service ends */
  database?: string;
  faults?: Partial<Faults>;
  /** Chance, for the faults. @default Math.random */
  random?: () => number;
}

export interface Service {
  /** Where it listens: `https://localhost:…`. */
  origin: string;
  /** Base address of variant B. */
  renderBaseUrl: string;
  /** Base address of variant A. */
  retrieveBaseUrl: string;
  /** The authority (PEM) that a client has to trust. */
  certificateAuthority: string;
  store: Store;
  /** Changed in place, it takes effect with the next request. */
  faults: Faults;
  /** The keys of the seeded organization; only known on the start that made the database. */
  keys: SeededKeys | undefined;
  close(): Promise<void>;
}

/**
 * Starts the Snippet Delivery Service on this machine: HTTPS only, HTTP/1.1 and HTTP/2, on the loopback
 * interface. A new database is filled with a small organization.
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const certificate: Certificate = await createCertificate();
  const store = new Store(options.database ?? ':memory:');
  const keys = seed(store);
  const faults: Faults = { ...noFaults, ...options.faults };
  const api = createApi(store, faults, options.random ?? Math.random);
  api.route('/', problemPages());
  const server = await listen(api, certificate, options.port ?? 0);
  return {
    origin: server.origin,
    renderBaseUrl: server.origin + renderPath,
    retrieveBaseUrl: server.origin + retrievePath,
    certificateAuthority: certificate.authority,
    store,
    faults,
    keys,
    async close() {
      await server.close();
      store.close();
    },
  };
}
