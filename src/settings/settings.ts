import { join } from 'node:path';
import { checkApiKey } from '../client/api-key.ts';
import { parseBaseUrl } from '../client/base-url.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { userError } from '../failures/errors.ts';
import { type Environment, environmentVariables } from './environment.ts';
import type { HtmlRules, ImageOptions, ParsedOptions } from './options.ts';
import type { SiteUrls } from './site-urls.ts';

const urlOptions = ['renderBaseUrl', 'retrieveBaseUrl'] as const;
type UrlOption = (typeof urlOptions)[number];

/**
 * The options and the environment, validated and combined: what the rest of the package works with. A missing
 * key or URL is an error only once it is needed.
 */
export interface Settings
  extends Omit<ParsedOptions, keyof HtmlRules | 'csp' | 'images'>,
    HtmlRules,
    CacheFolders {
  apiKey: string | undefined;
  /** Whether the environment names a file for the key. If there is no key, that file does not exist. */
  hasKeyFile: boolean;
  /** The base URLs that are set as options: the environment cannot replace these. */
  urlOptions: readonly UrlOption[];
  /** Which images are downloaded, and where they go; `undefined` if images stay where they are. */
  images: ImageSettings | undefined;
}

/** Folders of the cache. They are `undefined` if nothing is cached, or only in the user's own storage. */
export interface CacheFolders {
  answerFolder: string | undefined;
  imageFolder: string | undefined;
}

/** The place where Astro puts files with a hash in their names. */
export interface Assets {
  /** The folder in the output, such as `_astro`. */
  folder: string;
  /** The start of URLs: the base path or `assetsPrefix`, which may depend on a file's extension. */
  prefix: string | Record<string, string>;
}

export interface ImageSettings extends Readonly<ImageOptions> {
  assets: Assets;
}

/** The settings that come from Astro's config. All of them are missing if Astro does not make the site. */
export interface SiteConfig {
  /** Astro's cache directory, in which ours is made. */
  cacheDirectory?: string;
  /** Whether Astro writes a Content Security Policy. */
  hasPolicy?: boolean;
  urls?: SiteUrls;
  assets?: Assets;
}

/**
 * Combines the options with the environment. Options win. An empty variable counts as absent: CI systems set
 * a missing secret to it.
 *
 * @throws UserError for a malformed key or URL. The key is not shown.
 */
export function resolveSettings(
  options: ParsedOptions,
  environment: Environment,
  { cacheDirectory, hasPolicy = false, urls, assets }: SiteConfig = {},
): Settings {
  const { links, csp, images, ...unchanged } = options;
  const cacheFolder = options.cache && cacheDirectory ? join(cacheDirectory, 'astro-snippets') : undefined;
  try {
    const key = environment[environmentVariables.apiKey];
    return {
      ...unchanged,
      apiKey: key ? checkApiKey(key, environmentVariables.apiKey) : undefined,
      hasKeyFile: Boolean(environment[environmentVariables.apiKeyFile]),
      renderBaseUrl: resolveBaseUrl('renderBaseUrl', options, environment),
      retrieveBaseUrl: resolveBaseUrl('retrieveBaseUrl', options, environment),
      urlOptions: urlOptions.filter((name) => options[name] !== undefined),
      links: links && urls && { base: urls.base, trailingSlash: urls.trailingSlash },
      policy: hasPolicy ? (csp ?? 'warn') : 'none',
      ...cacheFolders(cacheFolder),
      images: images && assets && { ...images, assets },
    };
  } catch (error) {
    throw error instanceof SnippetError ? userError('invalid-options', error.message) : error;
  }
}

function resolveBaseUrl(
  name: UrlOption,
  options: ParsedOptions,
  environment: Environment,
): string | undefined {
  const option = options[name];
  if (option !== undefined) return parseBaseUrl(`The option ${name}`, option).href;
  const variableName = environmentVariables[name];
  const value = environment[variableName];
  return value ? parseBaseUrl(variableName, value).href : undefined;
}

/** @param folder our folder in the cache, which also contains the manifest. */
export const cacheFolders = (folder: string | undefined): CacheFolders => ({
  answerFolder: folder && join(folder, 'answers'),
  imageFolder: folder && join(folder, 'images'),
});
