import { type ErrorCode, errorTable } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';
import { cleanText } from '../text/clean-text.ts';
import { intendedName } from '../text/intended-name.ts';
import type { Settings } from './settings.ts';
import { environmentVariables } from './variable-names.ts';

/** Whether the settings have what a request needs: a key, and at least one base URL. */
export const hasConnection = ({ apiKey, renderBaseUrl, retrieveBaseUrl }: Settings): boolean =>
  Boolean(apiKey && (renderBaseUrl ?? retrieveBaseUrl));

/** Whether embeds show their children because there is no API key and the option `missingKey` allows that. */
export const isWithoutKey = ({ apiKey, missingKey }: Settings): boolean =>
  !apiKey && missingKey === 'children';

/** A required setting that is missing: the error code, and a sentence about it without its period. */
export interface MissingSetting {
  code: ErrorCode;
  text: string;
}

/** Says why there is no API key. Hides the path of a key file, which may be the key by mistake. */
export function whyWithoutKey(settings: Settings): MissingSetting {
  const { hasKeyFile, emptyVariables } = settings;
  const { apiKey, apiKeyFile } = environmentVariables;
  const isEmpty = emptyVariables.includes(apiKey);
  if (hasKeyFile) {
    const flaw = isEmpty ? 'is empty' : 'does not exist';
    return { code: 'unreadable-key-file', text: `The file named by ${apiKeyFile} ${flaw}` };
  }
  const reason = isEmpty
    ? ': it is empty, which also hides one in a .env file'
    : misspelledNote(settings, [apiKey]);
  return { code: 'missing-key', text: `${apiKey} is not set${reason}` };
}

/** Says that there is no base URL, and which variable is empty. */
export function whyWithoutUrl(settings: Settings): MissingSetting {
  const { emptyVariables } = settings;
  const { renderBaseUrl, retrieveBaseUrl } = environmentVariables;
  const empty = [renderBaseUrl, retrieveBaseUrl].filter((name) => emptyVariables.includes(name));
  const [verb, hidden] = empty.length === 1 ? ['is', 'one'] : ['are', 'those'];
  const reason = `: ${empty.join(' and ')} ${verb} empty, which also hides ${hidden} in a .env file`;
  const note = empty.length > 0 ? reason : misspelledNote(settings, [renderBaseUrl, retrieveBaseUrl]);
  return { code: 'missing-url', text: `No base URL of the service is set${note}` };
}

/** Names a variable that is set and looks like a misspelling of one that is not; empty if there is none. */
function misspelledNote({ unknownVariables }: Settings, wanted: readonly string[]): string {
  const misspelled = unknownVariables.find((name) => intendedName(name, wanted) !== undefined);
  return misspelled === undefined ? '' : `, but ${cleanText(misspelled)} is`;
}

/** The warning for a build that shows children because there is no key. */
export const withoutKeyWarning = (settings: Settings): string =>
  `${whyWithoutKey(settings).text}, so embeds show their children (missingKey: 'children'). Such a build leaves no record for check and refresh.`;

/**
 * Checks that requests can be made.
 *
 * @param neededFor the page, or whatever else needs a snippet.
 * @returns the API key.
 * @throws UserError that names everything that is missing.
 */
export function requireConnection(settings: Settings, neededFor?: string): string {
  const { apiKey, renderBaseUrl, retrieveBaseUrl } = settings;
  const missing: MissingSetting[] = apiKey ? [] : [whyWithoutKey(settings)];
  if (!renderBaseUrl && !retrieveBaseUrl) {
    missing.push(whyWithoutUrl(settings));
  }
  const [first] = missing;
  if (!first) return apiKey as string;

  const sentences = missing.map(({ text }) => `${text}.`);
  if (neededFor) sentences.push(`Needed for ${neededFor}.`);
  const hint = missing.map(({ code }) => errorTable[code].hint).join('\n');
  throw userError(first.code, sentences.join(' '), hint);
}
