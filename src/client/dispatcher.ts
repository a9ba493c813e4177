import type { Dispatcher } from 'undici';
import type { Limits } from './limits.ts';
import { loadUndici } from './load-undici.ts';

export interface DispatcherOptions {
  ca: string | readonly string[] | undefined;
  concurrency: number;
  limits: Limits;
}

/** Makes the client's own connections: nothing is shared with, or set for, the rest of the process. */
export async function createDispatcher({ ca, concurrency, limits }: DispatcherOptions): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = loadUndici();
  const tls = {
    // Said aloud, because otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 would be obeyed.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca: withSystemRoots(ca, await systemRoots()) }),
  };
  const options = {
    connections: concurrency,
    pipelining: 1,
    allowH2: true,
    headersTimeout: limits.idleTimeout,
    bodyTimeout: limits.idleTimeout,
    maxResponseSize: limits.bodyBytes,
    connect: { timeout: limits.connectTimeout, preferH2: true, ...tls },
  };
  if (!proxyIsSet()) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    connectTimeout: limits.connectTimeout,
    requestTls: { preferH2: true, ...tls },
    proxyTls: { rejectUnauthorized: true },
  });
}

/** `ca` adds to the roots Node trusts, as NODE_EXTRA_CA_CERTS does; TLS itself would let it replace them. */
function withSystemRoots(ca: string | readonly string[], roots: readonly string[]): string[] {
  return [...roots, ...(typeof ca === 'string' ? [ca] : ca)];
}

async function systemRoots(): Promise<readonly string[]> {
  const { getCACertificates } = await import('node:tls');
  return getCACertificates('default');
}

function proxyIsSet(): boolean {
  return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].some((name) => process.env[name]);
}
