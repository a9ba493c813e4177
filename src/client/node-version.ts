/** The oldest Node that undici 8 runs on. `engines` in package.json says the same. */
export const oldestNode = '22.19.0';

export const nodeVersion: string = process.versions.node;

/** Says that Node is too old, before a dependency fails with a syntax error; `undefined` if it is not. */
export function nodeFlaw(version: string = nodeVersion): string | undefined {
  if (version.localeCompare(oldestNode, 'en', { numeric: true }) >= 0) return undefined;
  const { bun, deno } = process.versions;
  const runtime = (bun && `Bun ${bun}, which acts as `) || (deno && `Deno ${deno}, which acts as `) || '';
  return `astro-snippets needs Node ${oldestNode.replace(/\.0$/, '')} or newer, and this is ${runtime}Node ${version}.`;
}
