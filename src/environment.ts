import { loadEnv, type Plugin } from 'vite';

/**
 * Reads the SNIPPETS_ variables as Vite would: `process.env` first, then the project's `.env` files for the
 * mode of this run. A plugin, because only Vite's resolved configuration knows that mode and where the files
 * are. Nothing is put into the configuration or the module graph.
 */
export function environmentPlugin(onRead: (environment: Record<string, string>) => void): Plugin {
  return {
    name: 'astro-snippets:environment',
    configResolved({ mode, envDir }) {
      onRead(loadEnv(mode, envDir || '', 'SNIPPETS_'));
    },
  };
}
