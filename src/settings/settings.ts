import { join } from 'node:path';
import { checkApiKey } from '../client/api-key.ts';
import { parseBaseUrl } from '../client/base-url.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { userError } from '../failures/errors.ts';
import { readCaFile } from './ca-file.ts';
import type { Environment } from './environment.ts';
import type { HtmlRules, ImageOptions, ParsedOptions } from './options.ts';
import type { SiteUrls } from './site-urls.ts';
import { environmentVariables } from './variable-names.ts';

const knownVariables: readonly string[] = Object.values(environmentVariables);

const urlOptions = ['renderBaseUrl', 'retrieveBaseUrl'] as const;
type UrlOption = (typeof urlOptions)[number];

/**
 * The options and the environment, validated and combined, as the rest of the package uses them. A missing
 * API key or base URL is an error only once a request needs it.
 */
export interface Settings
  extends Omit<ParsedOptions, keyof HtmlRules | 'csp' | 'images'>,
    HtmlRules,
    CacheFolders {
  apiKey: string | undefined;
  /** Whether the environment names a file for the API key. If `apiKey` is missing, so is the file. */
  hasKeyFile: boolean;
  /** The names of variables that are set to an empty text, which counts as not set, and hides `.env` files. */
  emptyVariables: readonly string[];
  /** The names of variables that begin like ours and are not: one of them may be misspelled. */
  unknownVariables: readonly string[];
  /** The certificates to trust: those of the option `ca`, and those of the file that the environment names. */
  ca: ParsedOptions['ca'];
  /** The option `ca`, for the record. Commands read the file of the environment anew. */
  caOption: ParsedOptions['ca'];
  /** The names of the base URLs that are set as options, so that the environment cannot replace them. */
  urlOptions: readonly UrlOption[];
  /** Which images are downloaded, and where they go; `undefined` if images stay where they are. */
  images: ImageSettings | undefined;
}

/** Folders of the cache for answers and images. `undefined` if nothing is cached in a folder. */
export interface CacheFolders {
  answerFolder: string | undefined;
  imageFolder: string | undefined;
}

/** Where Astro puts files with a hash in their names, and how their URLs begin. */
export interface Assets {
  /** The folder in the output, such as `_astro`. */
  folder: string;
  /** The start of URLs: the base path or `assetsPrefix`, which may depend on a file's extension. */
  prefix: string | Record<string, string>;
}

export interface ImageSettings extends Readonly<ImageOptions> {
  assets: Assets;
}

/** The settings that come from Astro's config. None is set if another generator makes the site. */
export interface SiteConfig {
  /** Astro's cache directory, in which the folder `astro-snippets` is made. */
  cacheDirectory?: string;
  /** Whether Astro writes a Content Security Policy. */
  hasPolicy?: boolean;
  urls?: SiteUrls;
  assets?: Assets;
}

/**
 * Combines the options with the environment. Options win. An empty variable counts as absent, since CI
 * systems set the variable of a missing secret to an empty text.
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
    const apiKey = key ? checkApiKey(key, environmentVariables.apiKey) : undefined;
    // Without a key, no request is made, and where secrets are missing, so may be the file.
    const caFile = apiKey && environment[environmentVariables.caFile];
    const authorities = [options.ca ?? [], caFile ? readCaFile(caFile) : []].flat();
    return {
      ...unchanged,
      apiKey,
      ca: authorities.length > 0 ? authorities : undefined,
      caOption: options.ca,
      hasKeyFile: Boolean(environment[environmentVariables.apiKeyFile]),
      emptyVariables: Object.keys(environment).filter((name) => environment[name] === ''),
      unknownVariables: Object.keys(environment).filter((name) => !knownVariables.includes(name)),
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

/** @param folder the folder `astro-snippets` in Astro's cache, which also holds the manifest. */
export const cacheFolders = (folder: string | undefined): CacheFolders => ({
  answerFolder: folder && join(folder, 'answers'),
  imageFolder: folder && join(folder, 'images'),
});
