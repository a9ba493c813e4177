import { SnippetClient, type SnippetClientOptions } from './client/snippet-client.ts';
import { type Settings, variables } from './options.ts';
import { userError } from './report/user-error.ts';

/**
 * Makes a client. The key and an address are asked for only here, when
 * something needs a snippet: a site without embeds builds anywhere, without a key.
 *
 * @param who says what needs it, as the beginning of a sentence: "index.html holds an embed".
 * @throws AstroError that names the variable that is not set.
 */
export function createClient(
  settings: Settings,
  who: string,
  more: Pick<SnippetClientOptions, 'limits' | 'onNotice'> = {},
): SnippetClient {
  const { renderBaseUrl, retrieveBaseUrl, ca, concurrency } = settings;
  return new SnippetClient({
    apiKey: requireKey(settings, who),
    renderBaseUrl,
    retrieveBaseUrl,
    ca,
    concurrency,
    ...more,
  });
}

/** @throws AstroError that names the variable that is not set. */
export function requireKey({ apiKey, renderBaseUrl, retrieveBaseUrl }: Settings, who: string): string {
  if (apiKey === undefined) {
    throw userError(
      `${who}, but ${variables.apiKey} is not set.`,
      `Set ${variables.apiKey} in the environment of the build, or in a .env file that is not committed.`,
    );
  }
  if (renderBaseUrl === undefined && retrieveBaseUrl === undefined) {
    throw userError(
      `${who}, but no base address of the service is set.`,
      `Set ${variables.renderBaseUrl}, ${variables.retrieveBaseUrl} or both, in the environment or as the options renderBaseUrl and retrieveBaseUrl.`,
    );
  }
  return apiKey;
}
