import type { Clock } from '../../src/client/clock.ts';
import type { RequestOptions, SnippetClient } from '../../src/client/index.ts';
import { Service, type ServiceOptions, type Snippet } from '../../src/client/service.ts';
import { createRequest, type Params } from '../../src/client/snippet-request.ts';

/** A client with any of the limits, most of which are not public. */
export class LimitedClient implements Pick<SnippetClient, 'get' | 'counts' | 'close'> {
  readonly #service: Service;

  constructor(options: ServiceOptions, clock?: Clock) {
    this.#service = new Service(options, clock);
  }

  get counts(): Service['counts'] {
    return this.#service.counts;
  }

  async get(id: number, params?: Params, { signal }: RequestOptions = {}): Promise<Snippet> {
    return this.#service.get(createRequest(id, params), signal);
  }

  async close(): Promise<void> {
    await this.#service.close();
  }
}
