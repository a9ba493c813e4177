import { once } from 'node:events';
import { expect, vi } from 'vitest';
import { defaultLimits } from '../../../src/client/limits.ts';
import type { TestService } from '../service/service.ts';
import type { Site } from './site.ts';

/** A running `astro dev` or `astro preview`. */
export interface SiteServer {
  /** `http://localhost:…` */
  url: string;
  output(): string;
  stop(): Promise<void>;
}

// The limit is below the time limit of a test, so that the error shows the output of a server that does not
// start.
const maxStartMilliseconds = 150_000;

/**
 * Starts `astro dev` or `astro preview` on a free port, and waits until it serves.
 *
 * @throws Error with the output of the server if it ends or does not serve in time. The server is stopped.
 */
export async function startServer(
  site: { start: Site['start'] },
  command: 'dev' | 'preview',
  environment?: Record<string, string>,
): Promise<SiteServer> {
  const { process, output, ended } = site.start([command, '--port', '0'], environment);
  const end = async (signal: NodeJS.Signals) => {
    process.kill(signal);
    await ended;
  };
  const pattern = /http:\/\/localhost:\d+/;
  const failed = ended.then(() => {
    throw new Error(`astro ${command} has ended:\n${output()}`);
  });
  const serves = vi.waitFor(() => expect(output()).toMatch(pattern), { timeout: maxStartMilliseconds });
  try {
    await Promise.race([serves, failed]);
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
  return { url: pattern.exec(output())?.[0] ?? '', output, stop: () => end('SIGTERM') };
}

/** Fetches a page of `astro dev`, without the attributes that Astro 5 and 6 add for their toolbar. */
export async function fetchPage(url: string): Promise<{ status: number; html: string }> {
  const response = await fetch(url);
  const text = await response.text();
  return { status: response.status, html: text.replace(/ data-astro-source-(?:file|loc)="[^"]*"/g, '') };
}

/**
 * Fetches the text of a page while a request to the service is still unanswered and not given up. The page is
 * fetched again until there is such a request: a page that was just viewed makes none, and a machine may be
 * slow.
 */
export function textWithoutAnswers(url: string, service: TestService): Promise<string> {
  return vi.waitFor(
    async () => {
      const held = service.hold();
      try {
        const signal = AbortSignal.timeout(defaultLimits.idleTimeout - 1_000);
        const text = await (await fetch(url, { signal })).text();
        const notAsked = once(AbortSignal.timeout(2_000), 'abort').then(() => {
          throw new Error('The service was not asked.');
        });
        await Promise.race([held.asked(), notAsked]);
        return text;
      } finally {
        held.release();
      }
    },
    { timeout: 45_000 },
  );
}
