import { type Settings, variables } from '../options.ts';
import { userError } from '../report/user-error.ts';
import type { SiteEmbeds } from './find-embeds.ts';

/**
 * What a client cannot do without. Asked for only when a page holds an embed: a site without embeds builds
 * anywhere, without a key.
 *
 * @throws AstroError that names the variable and a page that needs it.
 */
export function requireAccess(
  { apiKey, renderBaseUrl, retrieveBaseUrl }: Settings,
  { pages }: Pick<SiteEmbeds, 'pages'>,
): { apiKey: string; renderBaseUrl: string | undefined; retrieveBaseUrl: string | undefined } {
  const needs = `${pages[0]?.source.name} holds an embed${pages.length > 1 ? ` (as do ${pages.length - 1} more pages)` : ''}`;
  if (apiKey === undefined) {
    throw userError(
      `${needs}, but ${variables.apiKey} is not set.`,
      `Set ${variables.apiKey} in the environment of the build, or in a .env file that is not committed.`,
    );
  }
  if (renderBaseUrl === undefined && retrieveBaseUrl === undefined) {
    throw userError(
      `${needs}, but no base address of the service is set.`,
      `Set ${variables.renderBaseUrl}, ${variables.retrieveBaseUrl} or both, in the environment or as the options renderBaseUrl and retrieveBaseUrl.`,
    );
  }
  return { apiKey, renderBaseUrl, retrieveBaseUrl };
}
