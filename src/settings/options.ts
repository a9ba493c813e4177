import { X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Driver } from 'unstorage';
import { z } from 'zod';
import { defaultPatience } from '../client/limits.ts';
import type { Params } from '../client/params.ts';
import { userError } from '../failures/errors.ts';
import { cleanText } from '../text/clean-text.ts';
import { parseDuration } from '../text/format.ts';
import type { SiteUrls } from './site-urls.ts';

const certificates = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

// With one that cannot be read, Node would trust the others, or none, and each request would fail.
const pemSchema = z
  .string()
  .refine((text) => text.match(certificates)?.every((one) => succeeds(() => new X509Certificate(one))), {
    error: ({ input }) =>
      String(input).includes('-----BEGIN CERTIFICATE-----')
        ? 'contains a certificate that is malformed or cut off.'
        : 'must be the text of a certificate (PEM), not the path of a file. A path goes into NODE_EXTRA_CA_CERTS.',
  });

const durationSchema = z
  .string()
  .transform(parseDuration)
  .pipe(z.number('must be a duration with its unit, such as "30s" or "7d"'));

const driverSchema = z.union([
  z.string().refine(isDriverName, 'must be the name of an unstorage driver, such as "redis"'),
  z.custom<Driver>(
    (value) => typeof (value as Partial<Driver> | null)?.getItem === 'function',
    'must be an unstorage driver, or the name of one',
  ),
]);

const functionOf = <T>() => z.custom<T>((value) => typeof value === 'function', 'must be a function');

/** The page that an embed is on. */
export interface PageOfEmbed {
  /** The path of its URL, with the site's base: `/docs/de/pricing/`. */
  page: string;
  /** The value of the `lang` attribute that is nearest to the embed. */
  lang: string | undefined;
}

const cacheOptions = {
  /** An unstorage driver, or the name of one, such as `'redis'`. @default files in Astro's cache directory */
  driver: driverSchema.optional(),
  /** Options for the driver that is named, such as `{ url: process.env.REDIS_URL }`. */
  options: z.record(z.string(), z.unknown()).optional(),
  /** How old a cached answer a build may use, such as `'10m'`. By default, every build makes requests. */
  maxAge: durationSchema.default(0),
};

const hostSchema = z
  .string()
  .refine(
    (text) => /^[^\s/?#@*\\]+$/.test(text) && URL.canParse(`https://${text}`),
    'must be a host, such as "cdn.example", without a scheme and a path',
  )
  .transform((text) => new URL(`https://${text}`).host);

const imageOptions = {
  /** The hosts whose images are downloaded, such as `['cdn.example']`; with its port where it is not 443. */
  hosts: z.array(hostSchema).min(1, 'must name a host'),
};

/**
 * The options of `snippets()`. The one place where an option is declared: its type, its validation, and its part of
 * docs/options.md (a test compares them).
 */
const options: {
  /** What comes before `/snippets/42/render`. One of the two base URLs is enough. */
  renderBaseUrl: z.ZodOptional<z.ZodString>;
  /** What comes before `/snippets/42`. Used if rendering does not exist or keeps failing. */
  retrieveBaseUrl: z.ZodOptional<z.ZodString>;
  /** Certificates (PEM text) to trust in addition to the system's. */
  ca: z.ZodOptional<z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>>;
  /**
   * The most requests at once. A build starts with 20, and makes more over HTTP/2 while the service keeps up.
   *
   * @default 100
   */
  concurrency: z.ZodDefault<z.ZodInt>;
  /**
   * How long a build may fetch snippets. The rest fails, unless `staleIfError` replaces it.
   *
   * @default '30m'
   */
  // Long enough for 100,000 snippets of a slow service, and shorter than a CI system waits.
  timeout: z.ZodDefault<
    z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
  >;
  /**
   * How long a build tries a service that gives no answer, or only errors such as 503.
   *
   * @default '60s'
   */
  patience: z.ZodDefault<
    z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
  >;
  /** Where a snippet is edited, for the dev toolbar and `editLinks`: a function from an id to a URL. */
  editUrl: z.ZodOptional<z.ZodCustom<(id: string) => string, (id: string) => string>>;
  /**
   * For previews: adds a button to each page, with links to where its snippets are edited.
   *
   * @default false
   */
  editLinks: z.ZodDefault<z.ZodBoolean>;
  /** Where answers are cached; `false` for no cache. */
  cache: z.ZodDefault<
    z.ZodUnion<
      readonly [
        z.ZodLiteral<false>,
        z.ZodObject<
          {
            driver: z.ZodOptional<
              z.ZodUnion<readonly [z.ZodString, z.ZodCustom<Driver<any, any>, Driver<any, any>>]>
            >;
            options: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>>;
            maxAge: z.ZodDefault<
              z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
            >;
          },
          z.core.$strict
        >,
      ]
    >
  >;
  /**
   * How long the last good content may replace a snippet while the service is in trouble, such as `'7d'`. Each use is a
   * warning. A refusal (401 to 404) is never replaced.
   *
   * @default never
   */
  staleIfError: z.ZodDefault<
    z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
  >;
  /**
   * Builds from the cache alone, without requests.
   *
   * @default false
   */
  offline: z.ZodDefault<z.ZodBoolean>;
  /**
   * Without an API key, `'children'` shows the children of embeds.
   *
   * @default 'error'
   */
  missingKey: z.ZodDefault<
    z.ZodEnum<{
      error: 'error';
      children: 'children';
    }>
  >;
  /** Files of the output whose embeds stay, as examples: glob patterns, such as `'docs/**'`. */
  exclude: z.ZodDefault<
    z.ZodUnion<readonly [z.ZodPipe<z.ZodString, z.ZodTransform<string[], string>>, z.ZodArray<z.ZodString>]>
  >;
  /** Params for every embed, by its page and language. The embed's own params win. */
  params: z.ZodOptional<
    z.ZodCustom<(place: PageOfEmbed) => Params | undefined, (place: PageOfEmbed) => Params | undefined>
  >;
  /** Makes the HTML of snippets safe: a function from HTML to HTML, or to a promise of it. */
  sanitize: z.ZodOptional<
    z.ZodCustom<
      (html: string, snippet: { id: number; params: Params | undefined }) => string | Promise<string>,
      (html: string, snippet: { id: number; params: Params | undefined }) => string | Promise<string>
    >
  >;
  /** `'base'` puts the site's base path before root-relative URLs in snippets. */
  links: z.ZodOptional<z.ZodLiteral<'base'>>;
  /**
   * What to do with scripts, event handlers and `javascript:` URLs in snippets: `'allow'`, `'strip'`, or `'error'`, which
   * fails the build.
   *
   * @default 'allow'
   */
  scripts: z.ZodDefault<
    z.ZodEnum<{
      error: 'error';
      allow: 'allow';
      strip: 'strip';
    }>
  >;
  /**
   * Fails the build, instead of warning, on HTML that would swallow the rest of a page.
   *
   * @default false
   */
  strict: z.ZodDefault<z.ZodBoolean>;
  /**
   * `'hash'` allows the inline scripts and styles of snippets in the page's Content Security Policy.
   *
   * @default they are blocked, with a warning
   */
  csp: z.ZodOptional<z.ZodLiteral<'hash'>>;
  /**
   * Serves the images of snippets from the site itself, if they are on these hosts: `{ hosts: ['cdn.example'] }`, with the
   * port if it is not 443.
   */
  images: z.ZodOptional<
    z.ZodObject<
      {
        hosts: z.ZodArray<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>>;
      },
      z.core.$strict
    >
  >;
  /**
   * Tells Tailwind and UnoCSS which classes snippets use.
   *
   * @default false
   */
  classes: z.ZodDefault<z.ZodBoolean>;
} = {
  /** What comes before `/snippets/42/render`. One of the two base URLs is enough. */
  renderBaseUrl: z.string().optional(),
  /** What comes before `/snippets/42`. Used if rendering does not exist or keeps failing. */
  retrieveBaseUrl: z.string().optional(),
  /** Certificates (PEM text) to trust in addition to the system's. */
  ca: z.union([pemSchema, z.array(pemSchema)]).optional(),
  /**
   * The most requests at once. A build starts with 20, and makes more over HTTP/2 while the service keeps up.
   *
   * @default 100
   */
  concurrency: z.int().min(1).max(1000).default(100),
  /**
   * How long a build may fetch snippets. The rest fails, unless `staleIfError` replaces it.
   *
   * @default '30m'
   */
  // Long enough for 100,000 snippets of a slow service, and shorter than a CI system waits.
  timeout: durationSchema.default(30 * 60_000),
  /**
   * How long a build tries a service that gives no answer, or only errors such as 503.
   *
   * @default '60s'
   */
  patience: durationSchema.default(defaultPatience),
  /** Where a snippet is edited, for the dev toolbar and `editLinks`: a function from an id to a URL. */
  editUrl: functionOf<(id: string) => string>().optional(),
  /**
   * For previews: adds a button to each page, with links to where its snippets are edited.
   *
   * @default false
   */
  editLinks: z.boolean().default(false),
  /** Where answers are cached; `false` for no cache. */
  cache: z.union([z.literal(false), z.strictObject(cacheOptions)]).default({ maxAge: 0 }),
  /**
   * How long the last good content may replace a snippet while the service is in trouble, such as `'7d'`. Each use is a
   * warning. A refusal (401 to 404) is never replaced.
   *
   * @default never
   */
  staleIfError: durationSchema.default(0),
  /**
   * Builds from the cache alone, without requests.
   *
   * @default false
   */
  offline: z.boolean().default(false),
  /**
   * Without an API key, `'children'` shows the children of embeds.
   *
   * @default 'error'
   */
  missingKey: z.enum(['error', 'children']).default('error'),
  /** Files of the output whose embeds stay, as examples: glob patterns, such as `'docs/**'`. */
  exclude: z.union([z.string().transform((pattern) => [pattern]), z.array(z.string())]).default([]),
  /** Params for every embed, by its page and language. The embed's own params win. */
  params: functionOf<(place: PageOfEmbed) => Params | undefined>().optional(),
  /** Makes the HTML of snippets safe: a function from HTML to HTML, or to a promise of it. */
  sanitize:
    functionOf<
      (html: string, snippet: { id: number; params: Params | undefined }) => string | Promise<string>
    >().optional(),
  /** `'base'` puts the site's base path before root-relative URLs in snippets. */
  links: z.literal('base').optional(),
  /**
   * What to do with scripts, event handlers and `javascript:` URLs in snippets: `'allow'`, `'strip'`, or `'error'`, which
   * fails the build.
   *
   * @default 'allow'
   */
  scripts: z.enum(['allow', 'strip', 'error']).default('allow'),
  /**
   * Fails the build, instead of warning, on HTML that would swallow the rest of a page.
   *
   * @default false
   */
  strict: z.boolean().default(false),
  /**
   * `'hash'` allows the inline scripts and styles of snippets in the page's Content Security Policy.
   *
   * @default they are blocked, with a warning
   */
  csp: z.literal('hash').optional(),
  /**
   * Serves the images of snippets from the site itself, if they are on these hosts: `{ hosts: ['cdn.example'] }`, with the
   * port if it is not 443.
   */
  images: z.strictObject(imageOptions).optional(),
  /**
   * Tells Tailwind and UnoCSS which classes snippets use.
   *
   * @default false
   */
  classes: z.boolean().default(false),
};

const optionsSchema: z.ZodObject<
  {
    renderBaseUrl: z.ZodOptional<z.ZodString>;
    retrieveBaseUrl: z.ZodOptional<z.ZodString>;
    ca: z.ZodOptional<z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>>;
    concurrency: z.ZodDefault<z.ZodInt>;
    timeout: z.ZodDefault<
      z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
    >;
    patience: z.ZodDefault<
      z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
    >;
    editUrl: z.ZodOptional<z.ZodCustom<(id: string) => string, (id: string) => string>>;
    editLinks: z.ZodDefault<z.ZodBoolean>;
    cache: z.ZodDefault<
      z.ZodUnion<
        readonly [
          z.ZodLiteral<false>,
          z.ZodObject<
            {
              driver: z.ZodOptional<
                z.ZodUnion<readonly [z.ZodString, z.ZodCustom<Driver<any, any>, Driver<any, any>>]>
              >;
              options: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>>;
              maxAge: z.ZodDefault<
                z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
              >;
            },
            z.core.$strict
          >,
        ]
      >
    >;
    staleIfError: z.ZodDefault<
      z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<number | undefined, string>>, z.ZodNumber>
    >;
    offline: z.ZodDefault<z.ZodBoolean>;
    missingKey: z.ZodDefault<
      z.ZodEnum<{
        error: 'error';
        children: 'children';
      }>
    >;
    exclude: z.ZodDefault<
      z.ZodUnion<readonly [z.ZodPipe<z.ZodString, z.ZodTransform<string[], string>>, z.ZodArray<z.ZodString>]>
    >;
    params: z.ZodOptional<
      z.ZodCustom<(place: PageOfEmbed) => Params | undefined, (place: PageOfEmbed) => Params | undefined>
    >;
    sanitize: z.ZodOptional<
      z.ZodCustom<
        (html: string, snippet: { id: number; params: Params | undefined }) => string | Promise<string>,
        (html: string, snippet: { id: number; params: Params | undefined }) => string | Promise<string>
      >
    >;
    links: z.ZodOptional<z.ZodLiteral<'base'>>;
    scripts: z.ZodDefault<
      z.ZodEnum<{
        error: 'error';
        allow: 'allow';
        strip: 'strip';
      }>
    >;
    strict: z.ZodDefault<z.ZodBoolean>;
    csp: z.ZodOptional<z.ZodLiteral<'hash'>>;
    images: z.ZodOptional<
      z.ZodObject<
        {
          hosts: z.ZodArray<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>>;
        },
        z.core.$strict
      >
    >;
    classes: z.ZodDefault<z.ZodBoolean>;
  },
  z.core.$strict
> = z
  .strictObject(options)
  .refine(
    ({ cache, staleIfError, offline }) => cache !== false || (staleIfError === 0 && !offline),
    'staleIfError and offline need the cache, which is false',
  )
  .refine(
    ({ editLinks, editUrl }) => !editLinks || editUrl !== undefined,
    'editLinks needs editUrl, the function that says where a snippet is edited',
  );

/** The options of `snippets()` in the Astro config. The API key is not one: it comes from the environment only. */
export type SnippetsOptions = z.input<z.ZodObject<typeof options>>;

export type ParsedOptions = z.output<typeof optionsSchema>;

/** What is done to content before it goes into a page as HTML. */
export interface HtmlRules extends Pick<ParsedOptions, 'sanitize' | 'scripts' | 'strict'> {
  classes?: boolean | undefined;
  /** What to do with inline scripts and styles: nothing, warn, or add their hashes to the page's policy. */
  policy: 'none' | 'warn' | 'hash';
  links?: Pick<SiteUrls, 'base' | 'trailingSlash'> | undefined;
}

/** @throws AstroError that names every option that is invalid or unknown. */
export function parseOptions(
  given: unknown,
  headline = 'The options of snippets() in the Astro config are invalid',
): {
  concurrency: number;
  timeout: number;
  patience: number;
  editLinks: boolean;
  cache:
    | false
    | {
        maxAge: number;
        driver?: string | Driver<any, any> | undefined;
        options?: Record<string, unknown> | undefined;
      };
  staleIfError: number;
  offline: boolean;
  missingKey: 'error' | 'children';
  exclude: string[];
  scripts: 'error' | 'allow' | 'strip';
  strict: boolean;
  classes: boolean;
  renderBaseUrl?: string | undefined;
  retrieveBaseUrl?: string | undefined;
  ca?: string | string[] | undefined;
  editUrl?: ((id: string) => string) | undefined;
  params?: ((place: PageOfEmbed) => Params | undefined) | undefined;
  sanitize?:
    | ((html: string, snippet: { id: number; params: Params | undefined }) => string | Promise<string>)
    | undefined;
  links?: 'base' | undefined;
  csp?: 'hash' | undefined;
  images?:
    | {
        hosts: string[];
      }
    | undefined;
} {
  // Used once, and compiling a parser would take longer.
  const parsed = optionsSchema.safeParse(given, { jitless: true });
  if (parsed.success) return parsed.data;
  const flaws = parsed.error.issues.flatMap((issue) => describeIssue(issue));
  throw userError(
    'invalid-options',
    [`${headline}:`, ...flaws].join('\n- '),
    `The options are ${Object.keys(options).join(', ')}. The API key is not an option: set SNIPPETS_API_KEY in the environment.`,
  );
}

/** Nothing is loaded to find out. */
function isDriverName(name: string) {
  const require = createRequire(import.meta.url);
  return /^[a-z0-9-]+$/.test(name) && succeeds(() => require.resolve(`unstorage/drivers/${name}`));
}

function succeeds(call: () => unknown) {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

function describeIssue(issue: z.core.$ZodIssue, inside: readonly PropertyKey[] = []): string[] {
  const path = [...inside, ...issue.path];
  // The last alternative has the most to say.
  if (issue.code === 'invalid_union') {
    return issue.errors.at(-1)?.flatMap((nested) => describeIssue(nested, path)) ?? [];
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `"${cleanText([...path, key].join('.'))}" is not an option`);
  }
  return [`${path.join('.') || 'the options'}: ${issue.message}`];
}
