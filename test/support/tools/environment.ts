/**
 * Variables that a process needs to start and to find its folders. On Windows, their names have no fixed
 * case.
 */
const needed = new Set(
  'PATH HOME TMPDIR SYSTEMROOT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA COMSPEC PATHEXT'.split(' '),
);

/** The environment without variables that could change a build: a developer's key, vitest's mode, colors. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => needed.has(name.toUpperCase())));
}

const networkVariables = ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];

/** Variables that a package manager may need to reach its registry. */
export function networkSettings(): Record<string, string> {
  return Object.fromEntries(
    networkVariables.map((name) => [name, process.env[name] ?? '']).filter(([, value]) => value),
  );
}
