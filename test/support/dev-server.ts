import { expect, vi } from 'vitest';
import type { Site } from './site.ts';

export interface DevServer {
  /** `http://localhost:…` */
  url: string;
  output(): string;
  stop(): Promise<void>;
}

/** Starts `astro dev` on a port of its own, and waits until it serves. */
export async function startDev(site: Site, environment?: Record<string, string>): Promise<DevServer> {
  const { process, output, ended } = site.start(['dev', '--port', '0'], environment);
  const pattern = /http:\/\/localhost:\d+/;
  await vi.waitFor(() => expect(output()).toMatch(pattern), { timeout: 30_000 });
  return {
    url: pattern.exec(output())?.[0] ?? '',
    output,
    async stop() {
      process.kill('SIGTERM');
      await ended;
    },
  };
}
