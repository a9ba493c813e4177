import { Console } from 'node:console';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { SnippetClient } from '../../src/client/snippet-client.ts';
import { failingServices, losesNothing } from '../client/failing-services.ts';
import { chooseIds, randomNumbers, type Simulation, simulate } from '../client/simulation.ts';
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

type Service = Simulation['behaviour'];
const few = [1, 4, 100, 1_000];
const outage =
  (from: number): Service =>
  ({ at }) =>
    at >= from && at < from + 20_000 ? 503 : 'good';

/** What a service does, with how many snippets. A share of `dead` ids fails for good; with `down`, all do. */
const services: { what: string; counts: number[]; dead?: number; down?: true; answer: Service }[] = [
  { what: 'answers 503', counts: few, down: true, answer: () => 503 },
  { what: 'refuses', counts: few, down: true, answer: () => 'refused' },
  { what: 'hangs', counts: few, down: true, answer: () => 'hang' },
  { what: 'is down for 20 s', counts: few, answer: outage(0) },
  { what: 'is down for 20 s later', counts: [1_000], answer: outage(50) },
  ...[0.01, 0.1, 0.6].map((dead) => ({
    what: `${dead} dead`,
    counts: [1_000],
    dead,
    answer: () => 500 as const,
  })),
  ...[0.3, 0.5].map((share) => ({
    what: `fails with ${share}`,
    counts: [1_000],
    answer: (({ random }) => (random() < share ? 500 : 'good')) as Service,
  })),
];

test('in simulated runs over three seeds, no snippet is lost that the service would send', async () => {
  const table: Record<string, string | number>[] = [];
  for (const { what, counts, dead = 0, down = false, answer } of services) {
    for (const endpoints of ['render', 'both'] as const) {
      for (const count of counts) {
        const row = { what, endpoints, count, lost: 0, requests: 0, seconds: 0 };
        for (let seed = 1; seed <= 3; seed += 1) {
          const { ids, chosen } = chooseIds(count, dead, seed);
          const { failed, milliseconds, requests } = await simulate({
            ...{ ids, endpoints, seed },
            behaviour: (request) => (dead > 0 && !chosen.has(request.id) ? 'good' : answer(request)),
          });
          row.lost += [...failed.keys()].filter((id) => !down && !chosen.has(id)).length;
          row.requests = Math.max(row.requests, requests.render + requests.retrieve);
          row.seconds = Math.max(row.seconds, Math.round(milliseconds / 100) / 10);
        }
        table.push(row);
      }
    }
  }
  new Console(process.stderr).table(table);
  expect(table.filter(({ lost }) => lost !== 0)).toEqual([]);
}, 600_000);
