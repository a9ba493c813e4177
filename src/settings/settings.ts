import { join } from 'node:path';
import { checkApiKey } from '../client/api-key.ts';
import { parseBaseUrl } from '../client/base-url.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { userError } from '../failures/errors.ts';
import { type Environment, environmentVariables } from './environment.ts';
import type { HtmlRules, ParsedOptions } from './options.ts';
import type { SiteUrls } from './site-urls.ts';

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
export const cacheFolders = (
  folder: string | undefined,
): {
  answerFolder: string | undefined;
  imageFolder: string | undefined;
} => ({
  answerFolder: folder && join(folder, 'answers'),
  imageFolder: folder && join(folder, 'images'),
});
