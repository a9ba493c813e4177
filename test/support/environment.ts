// What a process needs to start and to find its folders. On Windows, names of variables have no fixed case.
const needed = new Set([
  'PATH',
  'HOME',
  'TMPDIR',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'COMSPEC',
  'PATHEXT',
]);

/** The environment without what could change a build: a developer's own key, vitest's mode, colors. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => needed.has(name.toUpperCase())));
}
