import { checkApiKey } from '../client/api-key.ts';
import { parseBaseUrl } from '../client/service-url.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { listPlaces } from '../failures/report.ts';
import { userError } from '../failures/user-error.ts';
import { type Environment, variables } from './environment.ts';
import type { HtmlRules, ParsedOptions } from './options.ts';

/** The options and the environment together, validated. A missing key or URL is an error only once it is needed. */
export interface Settings
  extends Pick<
    ParsedOptions,
    'ca' | 'concurrency' | 'editUrl' | 'cache' | 'staleIfError' | 'offline' | 'exclude'
  > {
  apiKey: string | undefined;
  renderBaseUrl: string | undefined;
  retrieveBaseUrl: string | undefined;
  html: HtmlRules;
  /** Astro's; without one, nothing is cached in files. */
  cacheDirectory: string | undefined;
}

/** What the Astro config contributes to the settings. */
export interface SiteConfig {
  cacheDirectory?: string | undefined;
  /** Whether Astro writes a Content Security Policy for the site. */
  hasPolicy?: boolean | undefined;
}

/**
 * Combines the options with the environment. Options win.
 *
 * @param environment an empty variable counts as absent, since CI systems set a missing secret to an empty string.
 * @throws AstroError for a malformed key or URL. The key is not shown.
 */
export function resolveSettings(
  options: ParsedOptions,
  environment: Environment,
  { cacheDirectory, hasPolicy = false }: SiteConfig = {},
): Settings {
  const { ca, concurrency, editUrl, cache, staleIfError, offline, exclude } = options;
  const { sanitize, scripts, strict, csp } = options;
  const apiKey = environment[variables.apiKey] || undefined;
  return {
    apiKey: apiKey === undefined ? undefined : validate(() => checkApiKey(apiKey, variables.apiKey)),
    renderBaseUrl: baseUrl('renderBaseUrl', options, environment),
    retrieveBaseUrl: baseUrl('retrieveBaseUrl', options, environment),
    ca,
    concurrency,
    editUrl,
    cache,
    staleIfError,
    offline,
    exclude,
    html: { sanitize, scripts, strict, policy: hasPolicy ? (csp ?? 'warn') : 'none' },
    cacheDirectory,
  };
}

function baseUrl(
  name: 'renderBaseUrl' | 'retrieveBaseUrl',
  { [name]: option }: ParsedOptions,
  environment: Environment,
): string | undefined {
  const value = option ?? (environment[variables[name]] || undefined);
  if (value === undefined) return undefined;
  const setting = option === undefined ? variables[name] : `The option ${name}`;
  return validate(() => parseBaseUrl(setting, value).href);
}

function validate(check: () => string): string {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SnippetError)) throw error;
    throw userError('invalid-options', error.message);
  }
}

/** A missing key or URL, so that the key is required only when a snippet is needed: a site without embeds has none. */
export function hasConnection({ apiKey, renderBaseUrl, retrieveBaseUrl }: Settings): boolean {
  return apiKey !== undefined && (renderBaseUrl !== undefined || retrieveBaseUrl !== undefined);
}

/**
 * Returns the key, if everything that a request needs is set.
 *
 * @param places what needs it: the names of files, and of entries of collections.
 * @throws AstroError that names the variable that is missing.
 */
export function requireConnection(
  { apiKey, renderBaseUrl, retrieveBaseUrl }: Settings,
  places: readonly string[] = [],
): string {
  const why = places.length === 0 ? '' : ` Snippets are embedded in ${listPlaces(places)}.`;
  if (apiKey === undefined) throw userError('missing-key', `${variables.apiKey} is not set.${why}`);
  if (renderBaseUrl === undefined && retrieveBaseUrl === undefined) {
    throw userError('missing-url', `No base URL of the service is set.${why}`);
  }
  return apiKey;
}
