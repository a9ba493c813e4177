import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { SnippetClient } from '../../src/client/snippet-client.ts';
import { failingServices, losesNothing } from '../client/failing-services.ts';
import { chooseIds, randomNumbers } from '../client/simulation.ts';
import { certificate, httpServer } from '../support/tls-server.ts';

// What test/promises/failing-service.test.ts shows on a virtual clock, with a real server, sockets and timers.

const latency = 20;
const count = 1_000;

let fails: (id: number) => boolean = () => false;

const server = await httpServer((request, response) => {
  const id = Number(/\/snippets\/(\d+)/.exec(request.url)?.[1]);
  const failing = fails(id);
  setTimeout(() => {
    if (failing) response.writeHead(500).end();
    else response.end(`{"id":${id},"content":"Snippet ${id}"}`);
  }, latency);
});
afterAll(() => server.close());

async function run(ids: readonly number[], variants: readonly string[]) {
  const urls = {
    ...(variants.includes('render') ? { renderBaseUrl: `${server.origin}/b` } : {}),
    ...(variants.includes('retrieve') ? { retrieveBaseUrl: `${server.origin}/a` } : {}),
  };
  const client = new SnippetClient({ apiKey: 'sk_failing_ids', ca: certificate.ca, ...urls });
  const start = performance.now();
  const fetched: number[] = [];
  const failed: number[] = [];
  const get = (id: number) =>
    client
      .get(id)
      .then(() => fetched.push(id))
      .catch(() => failed.push(id));
  await Promise.all(ids.map(get));
  const seconds = (performance.now() - start) / 1000;
  await client.close();
  return { fetched, failed, seconds };
}

describe.for([[['render']], [['render', 'retrieve']]] as const)('with the base URLs of %j', ([variants]) => {
  test.for([0.1, 0.6])(
    'of 1,000 snippets exactly those fail that are dead for good, a share of %d',
    async (share) => {
      const { ids, chosen } = chooseIds(count, share, 7);
      fails = (id) => chosen.has(id);
      const { failed, seconds } = await run(ids, variants);
      expect(failed.sort((a, b) => a - b)).toEqual([...chosen].sort((a, b) => a - b));
      expect(seconds).toBeLessThan(60);
    },
  );

  test.for([0.3, 0.5])(
    'of 1,000 snippets none is lost when each attempt fails with a chance of %d',
    async (share) => {
      const random = randomNumbers(3);
      fails = () => random() < share;
      const { ids } = chooseIds(count, 0, 7);
      const { fetched, seconds } = await run(ids, variants);
      expect(fetched).toHaveLength(count);
      expect(seconds).toBeLessThan(60);
    },
  );
});

test('exactly the snippets fail that are dead for good, in 150 simulated runs of up to 1,000 snippets', async () => {
  await fc.assert(fc.asyncProperty(failingServices({ ids: 1_000, latency: 500 }), losesNothing), {
    numRuns: 150,
    seed: 20_260_101,
  });
}, 600_000);
