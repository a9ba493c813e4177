/** The proxy that the environment names for HTTPS. */
export interface ProxySetting {
  /** The variable that names it. */
  name: string;
  /** `undefined` if it is not the URL of a proxy that can be used. */
  url: string | undefined;
}

/**
 * Finds the proxy for HTTPS in the variables that undici reads, too. A proxy without a scheme, such as
 * `proxy.example:3128`, is one for `http:`, as in curl; a URL would take the host for the scheme.
 *
 * @returns `undefined` if none is set.
 */
export function proxySetting(environment: NodeJS.ProcessEnv): ProxySetting | undefined {
  for (const names of [
    ['https_proxy', 'HTTPS_PROXY'],
    ['http_proxy', 'HTTP_PROXY'],
  ]) {
    const name = names.find((name) => environment[name] !== undefined);
    const value = name === undefined ? '' : (environment[name] ?? '').trim();
    if (name !== undefined && value !== '') return { name, url: proxyUrl(value) };
  }
  return undefined;
}

// Those that undici can use.
const protocols: ReadonlySet<string> = new Set(['http:', 'https:', 'socks:', 'socks5:']);

function proxyUrl(value: string): string | undefined {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text)) return undefined;
  const { href, hostname, protocol, username, password } = new URL(text);
  const isUsable = protocols.has(protocol) && hostname !== '' && [username, password].every(canBeDecoded);
  return isUsable ? href : undefined;
}

function canBeDecoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
