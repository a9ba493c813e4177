/** A proxy that the environment names. */
export interface EnvironmentProxy {
  /** The environment variable that names it. */
  name: string;
  url: string;
}

/** Finds the environment variable with a proxy, in undici's order. A URL without a scheme gets `http://`. */
export function findProxy(): EnvironmentProxy | undefined {
  for (const protocol of ['https', 'http']) {
    const names = [`${protocol}_proxy`, `${protocol.toUpperCase()}_PROXY`];
    const name = names.find((candidate) => environmentVariable(candidate) !== undefined) ?? '';
    const value = environmentVariable(name)?.trim();
    if (value) return { name, url: /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}` };
  }
  return undefined;
}

/** An environment variable. A worker may have no environment, and Deno may not let it be read. */
export function environmentVariable(name: string): string | undefined {
  try {
    return globalThis.process?.env[name];
  } catch {
    return undefined;
  }
}
