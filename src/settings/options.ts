import type { Driver } from 'unstorage';
import type { Params } from '../client/params.ts';
import type { SiteUrls } from './site-urls.ts';

/** The page that an embed is on. */
export interface PageOfEmbed {
  /** The path of its URL, with the site's base: `/docs/de/pricing/`. */
  page: string;
  /** The value of the `lang` attribute that is nearest to the embed. */
  lang: string | undefined;
}

/** The storage of the cache, and the age up to which a build uses cached answers. */
export interface CacheOptions {
  /** An unstorage driver, or the name of one, such as `'redis'`. @default files in Astro's cache directory */
  driver?: string | Driver | undefined;
  /** Options for the driver that is named, such as `{ url: process.env.REDIS_URL }`. */
  options?: Record<string, unknown> | undefined;
  /** How old a cached answer a build may use, such as `'10m'`. By default, every build makes requests. */
  maxAge?: string | undefined;
}

/** The images of snippets that the site serves itself. */
export interface ImageOptions {
  /** The hosts whose images are downloaded, such as `['cdn.example']`; with its port where it is not 443. */
  hosts: string[];
}

/**
 * The options of `snippets()` in the Astro config. The API key is not one: it comes from the environment only.
 *
 * docs/options.md shows the comments of these fields, and `parseOptions` validates them.
 */
export interface SnippetsOptions {
  /** What comes before `/snippets/42/render`. One of the two base URLs is enough. */
  renderBaseUrl?: string | undefined;
  /** What comes before `/snippets/42`. Used if rendering does not exist or keeps failing. */
  retrieveBaseUrl?: string | undefined;
  /** Certificates (PEM text) to trust in addition to Node's. As a file, set SNIPPETS_CA_FILE. */
  ca?: string | string[] | undefined;
  /**
   * The most requests at once. A build starts with 20, and makes more over HTTP/2 while the service keeps up.
   *
   * @default 100
   */
  concurrency?: number | undefined;
  /**
   * How long a build may fetch snippets. The rest fails, unless `staleIfError` replaces it.
   *
   * @default '30m'
   */
  timeout?: string | undefined;
  /**
   * How long a build tries a service that gives no answer, or only errors such as 503.
   *
   * @default '60s'
   */
  patience?: string | undefined;
  /** Where a snippet is edited, for the dev toolbar, `editLinks` and `report`: a function from an id to a URL. */
  editUrl?: ((id: string) => string) | undefined;
  /**
   * For previews: adds a button to each page, with links to where its snippets are edited.
   *
   * @default false
   */
  editLinks?: boolean | undefined;
  /** Where answers are cached; `false` for no cache. */
  cache?: false | CacheOptions | undefined;
  /**
   * How long the last good content may replace a snippet while the service is in trouble, such as `'7d'`. Each use is a
   * warning. A refusal (401 to 404) is never replaced.
   *
   * @default never
   */
  staleIfError?: string | undefined;
  /**
   * Builds from the cache alone, without requests.
   *
   * @default false
   */
  offline?: boolean | undefined;
  /**
   * Without an API key, `'children'` shows the children of embeds.
   *
   * @default 'error'
   */
  missingKey?: 'error' | 'children' | undefined;
  /** Files of the output whose embeds stay, as examples: glob patterns, such as `'docs/**'`. */
  exclude?: string | string[] | undefined;
  /** Params for every embed, by its page and language. The embed's own params win. */
  params?: ((place: PageOfEmbed) => Params | undefined) | undefined;
  /** Makes the HTML of snippets safe: a function from HTML to HTML, or to a promise of it. */
  sanitize?:
    | ((html: string, snippet: { id: number; params: Params | undefined }) => string | Promise<string>)
    | undefined;
  /** `'base'` puts the site's base path before root-relative URLs in snippets. */
  links?: 'base' | undefined;
  /**
   * What to do with scripts, event handlers and `javascript:` URLs in snippets: `'allow'`; `'warn'`, which lets them run
   * and warns; `'strip'`, which removes them and warns; or `'error'`, which fails the build.
   *
   * @default 'warn'
   */
  scripts?: ScriptRule | undefined;
  /**
   * Fails the build, instead of warning, on HTML that would swallow or format the rest of a page.
   *
   * @default false
   */
  strict?: boolean | undefined;
  /**
   * `'hash'` allows the inline scripts and styles of snippets in the page's Content Security Policy.
   *
   * @default they are blocked, with a warning
   */
  csp?: 'hash' | undefined;
  /**
   * Serves the images of snippets from the site itself, if they are on these hosts: `{ hosts: ['cdn.example'] }`, with the
   * port if it is not 443.
   */
  images?: ImageOptions | undefined;
  /**
   * Tells Tailwind and UnoCSS which classes snippets use.
   *
   * @default false
   */
  classes?: boolean | undefined;
}

/** The options with defaults, once they are validated: durations in milliseconds, and one pattern as a list. */
interface OptionsWithDefaults {
  concurrency: number;
  timeout: number;
  patience: number;
  editLinks: boolean;
  /** A `maxAge` of `0` has every build make requests. */
  cache: false | (Omit<CacheOptions, 'maxAge'> & { maxAge: number });
  /** `0` for never. */
  staleIfError: number;
  offline: boolean;
  missingKey: 'error' | 'children';
  exclude: string[];
  scripts: ScriptRule;
  strict: boolean;
  classes: boolean;
}

/** The options once they are validated. Options without a default mean the same as they are written. */
export type ParsedOptions = Omit<SnippetsOptions, keyof OptionsWithDefaults> & OptionsWithDefaults;

/** What to do with what would run as a script in snippets. */
export type ScriptRule = 'allow' | 'warn' | 'strip' | 'error';

/**
 * The rules that are applied to content before it goes into a page as HTML. `Settings` has them in the place of the
 * options they are made from, and the record keeps them for a refresh. Add a rule as a required field: the compiler then
 * asks for each place.
 */
export interface HtmlRules extends Pick<ParsedOptions, 'sanitize' | 'scripts' | 'strict'> {
  /** Whether the CSS classes that a snippet uses are collected, for tools that make CSS. */
  classes?: boolean | undefined;
  /** How inline scripts and styles are treated: not at all, with a warning, or with hashes in the policy. */
  policy: 'none' | 'warn' | 'hash';
  /** Puts the site's base before root-relative URLs, if it is set. */
  links?: Pick<SiteUrls, 'base' | 'trailingSlash'> | undefined;
}
