import { EventEmitter, once } from 'node:events';
import { onTestFinished } from 'vitest';
import { type Service, startService } from '../../../playground/service/index.ts';
import type { LoggedRequest } from '../../../playground/service/store/request-log.ts';
import { authorityFile, serviceCertificate } from './authority.ts';

/** The playground's service with an organization that has only the test's snippets. */
export interface TestService extends Service {
  /** The variables that a build needs, as a user sets them. */
  environment: Record<
    'SNIPPETS_API_KEY' | 'SNIPPETS_RENDER_BASE_URL' | 'SNIPPETS_RETRIEVE_BASE_URL' | 'NODE_EXTRA_CA_CERTS',
    string
  >;
  /** A key that may retrieve, and not render. */
  publicKey: string;
  idOfAnotherOrganization: number;
  organizationId: number;
  /** The answered requests, oldest first. */
  requests(): LoggedRequest[];
  /** Publishes a snippet. @param name by default, "Snippet 42" */
  put(id: number, content: string, name?: string): void;
  unpublish(id: number): void;
  /**
   * Holds requests until they are released.
   *
   * @param when called when a request arrives. By default, every request is held.
   */
  hold(when?: () => boolean): Hold;
  /** Ends all faults, releases held requests, and renews the subscription. */
  clearFaults(): void;
}

/** Requests that wait for their answers. */
export interface Hold {
  /** Resolves when this many requests have arrived, including those that a client has given up. */
  asked(requests?: number): Promise<void>;
  /** Answers the requests with the current state of the service. */
  release(): void;
}

/** Starts a service with these snippets, by their ids. */
export async function startTestService(contents: Record<number, string>): Promise<TestService> {
  const { arrive, hold, releaseAll } = gate();
  const service = await startService({ beforeAnswer: arrive, certificate: serviceCertificate() });
  const { store, faults } = service;
  const { id: organizationId } = store.organizations.create('Test');
  let closed: Promise<void> | undefined;
  const noFaults = { ...faults };
  const unpublished = new Set<number>();
  const published = store.snippets.published.bind(store.snippets);
  store.snippets.published = (organization, id) =>
    unpublished.has(id) ? undefined : published(organization, id);
  const put = (id: number, content: string, name = `Snippet ${id}`) => {
    unpublished.delete(id);
    const known = store.snippets.save(organizationId, id, {
      name,
      draft: content,
      sample: '{}',
    });
    if (!known) store.snippets.create(organizationId, { id, name, draft: content });
    store.snippets.publish(organizationId, id);
  };
  for (const [id, content] of Object.entries(contents)) put(Number(id), content);
  return {
    ...service,
    environment: {
      SNIPPETS_API_KEY: store.keys.create(organizationId, 'secret', 'test').secret,
      SNIPPETS_RENDER_BASE_URL: service.renderBaseUrl,
      SNIPPETS_RETRIEVE_BASE_URL: service.retrieveBaseUrl,
      NODE_EXTRA_CA_CERTS: authorityFile(),
    },
    publicKey: store.keys.create(organizationId, 'public', 'test').secret,
    organizationId,
    // A published snippet of the seeded organization.
    idOfAnotherOrganization: 60,
    requests: () => store.requests.list(organizationId, 10_000).reverse(),
    put,
    unpublish: (id) => void unpublished.add(id),
    hold,
    clearFaults() {
      releaseAll();
      Object.assign(faults, noFaults);
      store.organizations.setSubscription(organizationId, 'active');
    },
    close() {
      releaseAll();
      closed ??= service.close();
      return closed;
    },
  };
}

interface Gate {
  /** Resolves when the request may pass. */
  arrive(): Promise<unknown>;
  hold(when?: () => boolean): Hold;
  releaseAll(): void;
}

/** Makes the gate that every request passes, and where requests can be held. */
function gate(): Gate {
  const holds = new Set<{ pass(): Promise<void> | undefined; release(): void }>();
  return {
    arrive: () => Promise.all([...holds].map(({ pass }) => pass())),
    hold(when = () => true): Hold {
      const { promise: released, resolve } = Promise.withResolvers<void>();
      const held = new EventEmitter();
      let count = 0;
      const one = {
        pass() {
          if (!when()) return undefined;
          count += 1;
          held.emit('request');
          return released;
        },
        release() {
          holds.delete(one);
          resolve();
        },
      };
      holds.add(one);
      return {
        async asked(requests = 1) {
          while (count < requests) await once(held, 'request');
        },
        release: one.release,
      };
    },
    releaseAll() {
      for (const { release } of holds) release();
    },
  };
}

/** Starts a service that is closed when the running test ends. */
export async function temporaryService(contents: Record<number, string>): Promise<TestService> {
  const service = await startTestService(contents);
  onTestFinished(() => service.close());
  return service;
}
