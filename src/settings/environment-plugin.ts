import type { Plugin } from 'vite';
import { userError } from '../failures/errors.ts';
import { keySearch } from '../text/known-keys.ts';
import { type Environment, type EnvironmentFiles, readEnvironment } from './environment.ts';
import { environmentVariables } from './variable-names.ts';

/**
 * A Vite plugin that reads the environment once Vite has resolved its mode and the folder of `.env` files.
 * Fails with a UserError if a variable that browsers can read contains the API key.
 */
export const environmentPlugin = (
  onRead: (environment: Environment, files: EnvironmentFiles) => Promise<void>,
): Plugin => ({
  name: 'astro-snippets:environment',
  async configResolved({ mode, envDir: directory, env: publicVariables }): Promise<void> {
    const files = { mode, directory };
    const environment = await readEnvironment(files, { env: process.env, cwd: process.cwd() });
    await onRead(environment, files);
    const key = environment[environmentVariables.apiKey];
    if (key) refuseExposedKey(key, publicVariables);
  },
});

/** Throws if a public variable contains the API key, even if no page uses that variable yet. */
function refuseExposedKey(key: string, publicVariables: Record<string, unknown>): void {
  const search = keySearch(key);
  const names = Object.keys(publicVariables).filter((name) => search.isIn(String(publicVariables[name])));
  if (names.length === 0) return;
  const subject = `${names.join(', ')} ${names.length === 1 ? 'contains' : 'contain'} the API key`;
  throw userError('exposed-key', `${subject}, and every visitor could read it.`);
}
