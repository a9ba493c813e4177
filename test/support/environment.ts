// What a process needs to start and to find its folders. On Windows, names of variables have no fixed case.
const needed = new Set(
  'PATH HOME TMPDIR SYSTEMROOT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA COMSPEC PATHEXT'.split(' '),
);

/** The environment without what could change a build: a developer's own key, vitest's mode, colors. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => needed.has(name.toUpperCase())));
}

const network = ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];

/** What a package manager may need to reach its registry, where a test installs something. */
export function networkSettings(): Record<string, string> {
  return Object.fromEntries(
    network.map((name) => [name, process.env[name] ?? '']).filter(([, value]) => value),
  );
}
