import { type Settings, variables } from './options.ts';
import { userError } from './report/user-error.ts';

/** The part of the settings that a client cannot do without. */
export interface Access {
  apiKey: string;
  renderBaseUrl: string | undefined;
  retrieveBaseUrl: string | undefined;
}

/**
 * Asked for only when something needs a snippet: a site without embeds builds anywhere, without a key.
 *
 * @param who says what needs it, as the beginning of a sentence: "index.html holds an embed".
 * @throws AstroError that names the variable.
 */
export function requireAccess({ apiKey, renderBaseUrl, retrieveBaseUrl }: Settings, who: string): Access {
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
  return { apiKey, renderBaseUrl, retrieveBaseUrl };
}
