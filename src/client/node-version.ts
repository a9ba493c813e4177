/** The oldest Node that runs this package, as `engines` in package.json says: undici 8 needs it. */
export const oldestNode = '22.19.0';

export const nodeVersion: string = process.versions.node;

/** Says that Node is too old. Without this, a dependency fails with a syntax error. */
export function nodeFlaw(version = nodeVersion): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `astro-snippets needs Node ${oldestMajor}.${oldestMinor} or newer, and this is Node ${version}.`;
}
