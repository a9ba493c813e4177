import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Command } from 'commander';
import { type SnippetClientOptions, SnippetError } from '../../src/client/index.ts';
import { SnippetClient } from '../../src/client/snippet-client.ts';
import { createRequest } from '../../src/client/snippet-request.ts';
import { contentOf, kindOf } from './faulty-service.ts';

// Runs the client for a long time against a service that fails in every way, over TLS and HTTP/2. Fails if a request does
// not end as the retry policy promises, or if memory grows.

const program = new Command('npm run soak --')
  .description('The client against a service that fails at random: nothing is lost, and memory stays.')
  .option('--minutes <number>', 'how long', Number, 60)
  .parse();
const minutes: number = program.opts()['minutes'];

// In MB, over the whole run: a leak of 100 bytes per request would exceed it.
const growthAllowed = { heap: 8, rss: 64 };
// A snippet may take two minutes, and outages last 20 s.
const roundTimeout = 300_000;
// Shorter than the defaults, so that more goes wrong in an hour, but long enough for a busy machine.
const limits = { attemptTimeout: 8_000, idleTimeout: 4_000, connectTimeout: 4_000, bodyBytes: 200_000 };
/** The codes that a snippet may fail with. The last attempt for a dead one may end with its connection. */
const promised = {
  good: [] as string[],
  dead: ['server-error', 'network', 'timeout'],
  missing: ['not-found'],
};

const say = (line: string) => process.stdout.write(`${line}\n`);

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const service = fork(join(import.meta.dirname, 'faulty-service.ts'));
service.once('exit', () => {
  throw new Error('The service ended.');
});
const [{ origin, ca }] = await once(service, 'message');
const [render, retrieve] = [{ renderBaseUrl: `${origin}/b` }, { retrieveBaseUrl: `${origin}/a` }];
const both = { ...render, ...retrieve };

function open(urls: Partial<SnippetClientOptions>): SnippetClient {
  return new SnippetClient({ apiKey: 'sk_soak_2b7e151628aed2a6', ca, ...urls }, { limits });
}

const counts = { arrived: 0, failed: 0, aborted: 0, wrong: 0 };

async function get(client: SnippetClient, id: number): Promise<void> {
  const kind = kindOf(id);
  const signal = Math.random() < 0.03 ? AbortSignal.timeout(Math.floor(300 * Math.random())) : undefined;
  const got = await client.fetch(createRequest(id), signal).catch((error: unknown) => error as SnippetError);
  const code = got instanceof SnippetError ? got.code : undefined;
  if (code === 'aborted' && signal?.aborted) counts.aborted += 1;
  else if (code !== undefined && promised[kind].includes(code)) counts.failed += 1;
  else if (kind === 'good' && 'content' in got && got.content === contentOf(id)) counts.arrived += 1;
  else if (++counts.wrong <= 20) say(`Wrong: snippet ${id} (${kind}): ${code ?? 'another content'}`);
}

async function round(client: SnippetClient): Promise<void> {
  const gets = Array.from({ length: 1_500 }, () => get(client, 1 + Math.floor(2_000 * Math.random())));
  const ended = new AbortController();
  const late = setTimeout(roundTimeout, 'late', { signal: ended.signal });
  const outcome = await Promise.race([Promise.all(gets), late]);
  if (outcome === 'late') throw new Error(`Not all requests ended within ${roundTimeout / 1000} s.`);
  ended.abort();
}

/** In MB. */
async function sample(): Promise<{ heap: number; rss: number }> {
  // Ended streams are released in later turns of the event loop.
  await setTimeout(200);
  collectGarbage();
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed / 1e6, rss: rss / 1e6 };
}

// One client for the whole run, and others that are closed after a round.
const kept = open(both);
const samples: Awaited<ReturnType<typeof sample>>[] = [];
const start = performance.now();
const passed = () => (performance.now() - start) / 60_000;

for (let number = 0; passed() < minutes; number++) {
  const short = open([render, retrieve, both][number % 3] ?? both);
  await Promise.all([round(kept), round(short)]);
  await short.close();
  if (passed() < (minutes / 60) * (samples.length + 1)) continue;
  const now = await sample();
  samples.push(now);
  say(`${passed().toFixed(1)} min: ${JSON.stringify({ ...counts, ...now })}`);
}
await kept.close();
service.removeAllListeners('exit').disconnect();

const flaws = counts.wrong > 0 ? [`${counts.wrong} requests ended in another way than promised`] : [];
// In the first fifth, code is compiled and pools fill.
const fifth = Math.floor(samples.length / 5);
if (fifth === 0) flaws.push('too short to see whether memory grows');
for (const what of ['heap', 'rss'] as const) {
  const mean = (part: typeof samples) => part.reduce((sum, one) => sum + one[what], 0) / part.length;
  const growth = mean(samples.slice(-fifth)) - mean(samples.slice(fifth, 2 * fifth));
  if (growth > growthAllowed[what]) flaws.push(`${what} grew by ${growth.toFixed(1)} MB`);
}
say(flaws.length === 0 ? 'Nothing was lost, and memory is flat.' : `Failed: ${flaws.join('; ')}.`);
process.exitCode = flaws.length === 0 ? 0 : 1;
