import { readdir } from 'node:fs/promises';
import type { Plugin } from 'vite';

/**
 * Reads the SNIPPETS_ variables as Vite would: `process.env` first, then the project's `.env` files for the
 * mode of this run. A plugin, because only Vite's resolved configuration knows that mode and where the files
 * are. Nothing is put into the configuration or the module graph.
 */
export function environmentPlugin(onRead: (environment: Record<string, string | undefined>) => void): Plugin {
  return {
    name: 'astro-snippets:environment',
    async configResolved({ mode, envDir }) {
      onRead(await readEnvironment(mode, envDir));
    },
  };
}

const prefix = 'SNIPPETS_';

/** @param directory of the `.env` files; where there is none, all is in the environment. */
export async function readEnvironment(
  mode: string,
  directory: string | false,
): Promise<Record<string, string | undefined>> {
  const names = directory === false ? [] : await readdir(directory).catch(() => []);
  if (!names.some((name) => name.startsWith('.env'))) {
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith(prefix)));
  }
  // Only here, because to load Vite takes as long as a short command does.
  const { loadEnv } = await import('vite');
  return loadEnv(mode, directory || '', prefix);
}
