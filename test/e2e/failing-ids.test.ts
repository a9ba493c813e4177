import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { SnippetClient } from '../../src/client/index.ts';
import { failingServices, losesNothing } from '../client/failing-services.ts';
import { chooseIds, randomNumbers } from '../client/simulation.ts';
import { certificate, httpServer } from '../support/http/tls-server.ts';

// The same as test/promises/failing-service.test.ts, with a real server, sockets and timers.

let fails: (id: number) => boolean = () => false;
const server = await httpServer((request, response) => {
  const id = Number(/\/snippets\/(\d+)/.exec(request.url)?.[1]);
  const failing = fails(id);
  setTimeout(() => {
    if (failing) response.writeHead(500).end();
    else response.end(`{"id":${id},"content":"Snippet ${id}"}`);
  }, 20);
});
afterAll(() => server.close());

test.for([
  ['are dead', 0.6, 0],
  ['fail by chance', 0, 0.5],
] as const)('if many of 1,000 snippets %s, exactly the dead ones fail', async ([, dead, chance]) => {
  const { ids, chosen } = chooseIds(1_000, dead, 7);
  const random = randomNumbers(3);
  fails = (id) => chosen.has(id) || random() < chance;
  const client = new SnippetClient({
    ...{ apiKey: 'sk_failing_ids', ca: certificate.ca },
    ...{ renderBaseUrl: `${server.origin}/b`, retrieveBaseUrl: `${server.origin}/a` },
  });
  const start = performance.now();
  const arrived = await Promise.allSettled(ids.map((id) => client.get(id)));
  expect(performance.now() - start).toBeLessThan(60_000);
  await client.close();
  expect(ids.filter((_, index) => arrived[index]?.status === 'rejected')).toEqual(
    [...chosen].sort((a, b) => a - b),
  );
});

test('in 150 simulated runs of up to 1,000 snippets, exactly the dead ones fail', async () => {
  await fc.assert(fc.asyncProperty(failingServices({ ids: 1_000, latency: 500 }), losesNothing), {
    numRuns: 150,
    seed: 20_260_101,
  });
}, 600_000);
