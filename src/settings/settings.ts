import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import type { ResolvedConfig } from 'vite';
import { checkApiKey, parseBaseUrl, SnippetError } from '../client/snippet-request.ts';
import { cleanText, keySearch, reasonOf } from '../client/text.ts';
import { type ErrorCode, hints, userError } from '../failures/errors.ts';
import { astroPackage } from './astro-version.ts';
import type { HtmlRules, ParsedOptions } from './options.ts';
import type { SiteUrls } from './site-urls.ts';

export const environmentVariables = {
  apiKey: 'SNIPPETS_API_KEY',
  apiKeyFile: 'SNIPPETS_API_KEY_FILE',
  renderBaseUrl: 'SNIPPETS_RENDER_BASE_URL',
  retrieveBaseUrl: 'SNIPPETS_RETRIEVE_BASE_URL',
  webhookSecret: 'SNIPPETS_WEBHOOK_SECRET',
} as const;

export type Environment = Record<string, string | undefined>;

/** Where `.env` files are read, and for which mode of Vite; `false` for none. */
export interface EnvironmentFiles {
  mode: string;
  directory: string | false;
}

const variablePrefix = 'SNIPPETS_';

/** Reads the variables as Vite does. Fails with an AstroError if browsers can read one that contains the key. */
export const environmentPlugin = (onRead: (environment: Environment, files: EnvironmentFiles) => void) => ({
  name: 'astro-snippets:environment',
  async configResolved({ mode, envDir: directory, env }: ResolvedConfig) {
    const files = { mode, directory };
    const environment = await readEnvironment(files, { env: process.env, cwd: process.cwd() });
    onRead(environment, files);
    const key = environment[environmentVariables.apiKey];
    if (!key) return;
    // Public, whether a page uses it today or not.
    const search = keySearch(key);
    const names = Object.keys(env).filter((name) => search.isIn(String(env[name])));
    if (names.length === 0) return;
    const what = `${names.join(', ')} ${names.length === 1 ? 'contains' : 'contain'} the API key`;
    throw userError('exposed-key', `${what}, and every visitor could read it.`);
  },
});

/** A key file that does not exist is like no key: some builds need none. @throws AstroError if it cannot be read. */
export async function readEnvironment(
  { directory, mode }: EnvironmentFiles,
  { env, cwd }: { env: Environment; cwd: string },
) {
  const read = directory === false ? {} : await readEnvFiles(directory, mode);
  const all = Object.entries({ ...read, ...env }).filter(([name]) => name.startsWith(variablePrefix));
  const environment: Environment = Object.fromEntries(all);
  const file = environment[environmentVariables.apiKeyFile];
  if (!file || environment[environmentVariables.apiKey]) return environment;
  try {
    // Editors end a file with a line break.
    const key = readFileSync(resolve(cwd, directory || '', file), 'utf8').replace(/\r?\n$/, '');
    return { ...environment, [environmentVariables.apiKey]: key };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return environment;
    throw userError(
      'unreadable-key-file',
      `The file named by ${environmentVariables.apiKeyFile} could not be read: ${code}.`,
    );
  }
}

async function readEnvFiles(directory: string, mode: string): Promise<Environment> {
  const names = ['.env', '.env.local', `.env.${mode}`, `.env.${mode}.local`];
  const files = names.map((name) => join(directory, name)).filter(existsSync);
  const astro = files.length > 0 && astroPackage(directory);
  if (!astro) {
    return Object.assign({}, ...files.map((file) => parseEnv(readFileSync(file, 'utf8'))));
  }
  // Astro's own: ours could be another version. Loading it takes as long as a short command.
  const vite = createRequire(astro).resolve('vite');
  const { loadEnv }: typeof import('vite') = await import(pathToFileURL(vite).href);
  return loadEnv(mode, directory, variablePrefix);
}

const urlOptions = ['renderBaseUrl', 'retrieveBaseUrl'] as const;
type UrlOption = (typeof urlOptions)[number];

/** The options and the environment, validated. A missing key or URL is an error once it is needed. */
export interface Settings extends Omit<ParsedOptions, keyof HtmlRules | 'csp' | 'images'>, HtmlRules {
  apiKey: string | undefined;
  /** Whether a file for the key is named. Without a key, it does not exist. */
  hasKeyFile: boolean;
  /** Which of them are options, which the environment cannot replace. */
  urlOptions: readonly UrlOption[];
  /** Where answers are cached; `undefined` if they are not, or in the user's own storage. */
  answerFolder: string | undefined;
  images: ImageSettings | undefined;
  imageFolder: string | undefined;
}

export interface Assets {
  /** The folder in the output, such as `_astro`. */
  folder: string;
  /** Of its URL: the base path or `assetsPrefix`, which may depend on a file's extension. */
  prefix: string | Record<string, string>;
}

export interface ImageSettings {
  hosts: readonly string[];
  assets: Assets;
}

type SiteConfig = Partial<{ cacheDirectory: string; hasPolicy: boolean; urls: SiteUrls; assets: Assets }>;

/**
 * Options win over the environment, in which an empty variable counts as absent: CI systems set a missing secret to it.
 *
 * @throws AstroError for a malformed key or URL. The key is not shown.
 */
export function resolveSettings(
  options: ParsedOptions,
  environment: Environment,
  { cacheDirectory, hasPolicy = false, urls, assets }: SiteConfig = {},
): Settings {
  const { links, csp, images, ...more } = options;
  const baseUrl = (name: UrlOption) => {
    const option = options[name];
    const variable = environmentVariables[name];
    if (option !== undefined) return parseBaseUrl(`The option ${name}`, option).href;
    return environment[variable] ? parseBaseUrl(variable, environment[variable]).href : undefined;
  };
  const folder = more.cache && cacheDirectory ? join(cacheDirectory, 'astro-snippets') : undefined;
  try {
    const key = environment[environmentVariables.apiKey];
    return {
      ...more,
      apiKey: key ? checkApiKey(key, environmentVariables.apiKey) : undefined,
      hasKeyFile: Boolean(environment[environmentVariables.apiKeyFile]),
      renderBaseUrl: baseUrl('renderBaseUrl'),
      retrieveBaseUrl: baseUrl('retrieveBaseUrl'),
      urlOptions: urlOptions.filter((name) => options[name] !== undefined),
      links: links && urls && { base: urls.base, trailingSlash: urls.trailingSlash },
      policy: hasPolicy ? (csp ?? 'warn') : 'none',
      ...cacheFolders(folder),
      images: images && assets && { ...images, assets },
    };
  } catch (error) {
    throw error instanceof SnippetError ? userError('invalid-options', error.message) : error;
  }
}

/** @param folder the one that also contains the manifest. */
export const cacheFolders = (folder: string | undefined) => ({
  answerFolder: folder && join(folder, 'answers'),
  imageFolder: folder && join(folder, 'images'),
});

export const hasConnection = ({ apiKey, renderBaseUrl, retrieveBaseUrl }: Settings) =>
  Boolean(apiKey && (renderBaseUrl ?? retrieveBaseUrl));

/** Whether embeds show their children because there is no key. */
export const isWithoutKey = ({ apiKey, missingKey }: Settings) => !apiKey && missingKey === 'children';

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
export function requireConnection(settings: Settings, neededFor?: string) {
  const { apiKey, renderBaseUrl, retrieveBaseUrl } = settings;
  const missing = apiKey ? [] : [whyWithoutKey(settings)];
  if (!renderBaseUrl && !retrieveBaseUrl) {
    missing.push({ code: 'missing-url', text: 'No base URL of the service is set' });
  }
  const [first] = missing;
  if (!first) return apiKey as string;
  const texts = missing.map(({ text }) => `${text}.`);
  if (neededFor) texts.push(`Needed for ${neededFor}.`);
  throw userError(first.code, texts.join(' '), missing.map(({ code }) => hints[code]).join('\n'));
}

/** @throws AstroError if the option throws, or returns anything but a URL that `mayBe` linked to. */
export function editUrlOf(id: number, editUrl: (id: string) => unknown, mayBe = (_url: URL) => true) {
  let url: unknown;
  try {
    url = editUrl(String(id));
  } catch (error) {
    throw userError('invalid-options', `The function editUrl failed for snippet ${id}: ${reasonOf(error)}`);
  }
  // A promise is refused below. Its rejection would end the process.
  if (url instanceof Promise) url.catch(() => {});
  let returned = `a value of type ${typeof url}`;
  if (typeof url === 'string') {
    // A URL of the site's own is relative to any page.
    const parsed = URL.parse(url, 'https://site.invalid/');
    if (parsed && mayBe(parsed)) return url;
    returned = `"${cleanText(url)}"`;
  }
  throw userError(
    'invalid-options',
    `The function editUrl returned ${returned} for snippet ${id}, which is no URL that a page can link to.`,
    'It has to return a URL that begins with https:// or http://, or one of the site, such as "/edit/42".',
  );
}
