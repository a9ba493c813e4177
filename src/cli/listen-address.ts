import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Where `watch --listen` is called. */
export interface ListenAddress {
  host: string;
  /** From 0, any free port, to 65535. */
  port: number;
}

/** Parses `127.0.0.1:8787`, `localhost:8787` or `[::1]:8787`. `undefined` if it is none: the host is required. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, inBrackets, name = '', digits] = /^(?:\[([^\]]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) return undefined;
  if (inBrackets !== undefined) return isIPv6(inBrackets) ? { host: inBrackets, port } : undefined;
  // Digits and full stops alone would be looked up as a name, and might listen on another address.
  return isIPv4(name) || !/^[\d.]+$/.test(name) ? { host: name, port } : undefined;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an IP address can be reached from this machine alone. */
export function isLoopback(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
