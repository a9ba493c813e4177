import { type ErrorCode, errorTable } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';
import { environmentVariables } from './environment.ts';
import type { Settings } from './settings.ts';

export const hasConnection = ({ apiKey, renderBaseUrl, retrieveBaseUrl }: Settings): boolean =>
  Boolean(apiKey && (renderBaseUrl ?? retrieveBaseUrl));

/** Whether embeds show their children because there is no key. */
export const isWithoutKey = ({ apiKey, missingKey }: Settings): boolean =>
  !apiKey && missingKey === 'children';

/** `text` begins a sentence, without the path, which may be a key by mistake. */
export function whyWithoutKey({ hasKeyFile }: Settings): { code: ErrorCode; text: string } {
  return hasKeyFile
    ? {
        code: 'unreadable-key-file',
        text: `The file named by ${environmentVariables.apiKeyFile} does not exist`,
      }
    : { code: 'missing-key', text: `${environmentVariables.apiKey} is not set` };
}

export const withoutKeyWarning = (settings: Settings) =>
  `${whyWithoutKey(settings).text}, so embeds show their children (missingKey: 'children'). Such a build leaves no record for check and refresh.`;

/** @returns the key. @throws AstroError that names what is missing, and what needs it, such as a page. */
export function requireConnection(settings: Settings, neededFor?: string): string {
  const { apiKey, renderBaseUrl, retrieveBaseUrl } = settings;
  const missing = apiKey ? [] : [whyWithoutKey(settings)];
  if (!renderBaseUrl && !retrieveBaseUrl) {
    missing.push({ code: 'missing-url', text: 'No base URL of the service is set' });
  }
  const [first] = missing;
  if (!first) return apiKey as string;
  const texts = missing.map(({ text }) => `${text}.`);
  if (neededFor) texts.push(`Needed for ${neededFor}.`);
  throw userError(first.code, texts.join(' '), missing.map(({ code }) => errorTable[code].hint).join('\n'));
}
