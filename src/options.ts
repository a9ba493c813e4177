import type { Driver } from 'unstorage';
import { z } from 'zod';
import { isDriverName } from './cache/driver-name.ts';
import { checkApiKey } from './client/api-key.ts';
import { parseBaseUrl } from './client/base-url.ts';
import { cleanText } from './client/clean-text.ts';
import { SnippetError } from './client/snippet-error.ts';
import { parseDuration } from './duration.ts';
import type { HtmlRules } from './html-rules/apply-rules.ts';
import { hints } from './report/hints.ts';
import { userError } from './report/user-error.ts';

const pem = z.string().refine((text) => text.includes('-----BEGIN CERTIFICATE-----'), {
  error:
    'must be the text of a certificate (PEM), not the path of a file; a path goes into NODE_EXTRA_CA_CERTS',
});

const duration = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({
    code: 'custom',
    message: 'must be a length of time with its unit, such as "30s" or "7d"',
  });
  return z.NEVER;
});

const driver = z.union([
  z.string().refine(isDriverName, 'must be the name of a driver of unstorage, such as "redis"'),
  z.custom<Driver>((value) => typeof (value as Partial<Driver> | null)?.getItem === 'function'),
]);

const cache = z.union([
  z.literal(false),
  z.strictObject({
    driver: driver.optional(),
    options: z.record(z.string(), z.unknown()).optional(),
    maxAge: duration.default(0),
  }),
]);

const fields = z.strictObject({
  renderBaseUrl: z.string().optional(),
  retrieveBaseUrl: z.string().optional(),
  ca: z.union([pem, z.array(pem)]).optional(),
  concurrency: z.int().min(1).max(1000).default(20),
  editUrl: z
    .custom<(id: string) => string>((value) => typeof value === 'function', 'must be a function')
    .optional(),
  cache: cache.default({ maxAge: 0 }),
  staleIfError: duration.default(0),
  offline: z.boolean().default(false),
  sanitize: z
    .custom<NonNullable<HtmlRules['sanitize']>>((value) => typeof value === 'function', 'must be a function')
    .optional(),
  scripts: z.enum(['allow', 'strip', 'error']).default('allow'),
  strict: z.boolean().default(false),
  csp: z.literal('hash').optional(),
});

const schema = fields.refine(
  ({ cache, staleIfError, offline }) => cache !== false || (staleIfError === 0 && !offline),
  {
    error: 'staleIfError and offline need the cache, which is false',
  },
);

/** What a user may set in `astro.config`. The API key is not among it: it comes from the environment alone. */
export interface SnippetsOptions {
  /** Base address of variant B (render), with its path prefix. @default SNIPPETS_RENDER_BASE_URL */
  renderBaseUrl?: string | undefined;
  /** Base address of variant A (retrieve), with its path prefix. @default SNIPPETS_RETRIEVE_BASE_URL */
  retrieveBaseUrl?: string | undefined;
  /** Certificates (PEM) of authorities to trust beside those Node trusts. */
  ca?: string | string[] | undefined;
  /** Requests under way at once. @default 20 */
  concurrency?: number | undefined;
  /** Where a snippet is edited: the dev toolbar leads there. */
  editUrl?: ((id: string) => string) | undefined;
  /**
   * Where answers are kept; `false` keeps none. Never a reason for a build to fail.
   * @default files in Astro's cache directory
   */
  cache?: false | CacheOptions | undefined;
  /**
   * For how long the last good content may take the place of a snippet that cannot be had because the service is in
   * trouble, with a warning: `'7d'`. Never for what the service refuses (401 to 404). @default never
   */
  staleIfError?: string | undefined;
  /** Builds from the cache alone and asks nobody. @default false */
  offline?: boolean | undefined;
  /** Makes HTML safe before it goes into a page: takes a content and returns what is to stand there. */
  sanitize?: HtmlRules['sanitize'];
  /**
   * What becomes of scripts, event handlers and `javascript:` addresses in a snippet: they stay, are taken out, or fail
   * the build. @default 'allow'
   */
  scripts?: HtmlRules['scripts'] | undefined;
  /** Whether HTML that would swallow the rest of a page fails the build; otherwise it is a warning. @default false */
  strict?: boolean | undefined;
  /**
   * On a site with Astro's `security.csp`: `'hash'` allows the inline scripts and styles of snippets, each by its hash,
   * on the pages that show them. @default not allowed, with a warning
   */
  csp?: 'hash' | undefined;
}

export interface CacheOptions {
  /** A driver of unstorage, by its name or made already: `'redis'`. @default files in Astro's cache directory */
  driver?: string | Driver | undefined;
  /** What the driver of that name is told: `{ url: process.env.REDIS_URL }`. */
  options?: Record<string, unknown> | undefined;
  /**
   * How old an answer may be and be used without asking the service again: `'10m'`. In `astro dev` and on the command
   * line the service is always asked. @default always ask
   */
  maxAge?: string | undefined;
}

/** The environment's part, by the names users know. */
export const variables = {
  apiKey: 'SNIPPETS_API_KEY',
  /** A file that holds the key, so that the environment does not. */
  apiKeyFile: 'SNIPPETS_API_KEY_FILE',
  renderBaseUrl: 'SNIPPETS_RENDER_BASE_URL',
  retrieveBaseUrl: 'SNIPPETS_RETRIEVE_BASE_URL',
} as const;

/** Options and environment together, checked. What may still be missing is asked for when an embed is found. */
export interface Settings {
  apiKey: string | undefined;
  renderBaseUrl: string | undefined;
  retrieveBaseUrl: string | undefined;
  ca: string | string[] | undefined;
  concurrency: number;
  editUrl: ((id: string) => string) | undefined;
  cache: ParsedOptions['cache'];
  /** In milliseconds. */
  staleIfError: number;
  offline: boolean;
  html: HtmlRules;
  /** Astro's; where there is none, nothing is kept in files. */
  cacheDirectory: string | undefined;
}

/** What the Astro config says of the site. */
export interface SiteConfig {
  cacheDirectory?: string | undefined;
  /** Whether the site has a Content Security Policy of Astro's. */
  hasPolicy?: boolean | undefined;
}

export type ParsedOptions = z.output<typeof schema>;

/** @throws AstroError that names every option that is wrong or unknown. */
export function parseOptions(options: unknown): ParsedOptions {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const flaws = parsed.error.issues
    .flatMap(alternative)
    .map((issue) => `- ${describe(issue)}`)
    .join('\n');
  throw userError(
    `The options of snippets() in the Astro config cannot be used:\n${flaws}`,
    `Options are ${Object.keys(fields.shape).join(', ')}. The API key is none of them: set ${variables.apiKey} in the environment.`,
  );
}

/**
 * Puts the environment beside the options, which win.
 *
 * @param environment variables by name; an empty one counts as not set, as CI systems leave a missing secret.
 * @throws AstroError for a malformed key or address; the key is not shown.
 */
export function resolveSettings(
  options: ParsedOptions,
  environment: Record<string, string | undefined>,
  { cacheDirectory, hasPolicy = false }: SiteConfig = {},
): Settings {
  const given = (name: string) => environment[name] || undefined;
  const apiKey = given(variables.apiKey);
  const { sanitize, scripts, strict, csp, ...others } = options;
  return {
    ...others,
    ca: options.ca,
    editUrl: options.editUrl,
    html: { sanitize, scripts, strict, policy: hasPolicy ? (csp ?? 'warn') : 'none' },
    cacheDirectory,
    apiKey: apiKey === undefined ? undefined : checked(() => checkApiKey(apiKey, variables.apiKey)),
    renderBaseUrl: address('renderBaseUrl', options.renderBaseUrl, given(variables.renderBaseUrl)),
    retrieveBaseUrl: address('retrieveBaseUrl', options.retrieveBaseUrl, given(variables.retrieveBaseUrl)),
  };
}

function address(
  name: 'renderBaseUrl' | 'retrieveBaseUrl',
  option: string | undefined,
  variable: string | undefined,
): string | undefined {
  const value = option ?? variable;
  if (value === undefined) return undefined;
  const source = option === undefined ? variables[name] : `The option ${name}`;
  return checked(() => parseBaseUrl(source, value).href);
}

function checked(check: () => string): string {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof SnippetError)) throw error;
    throw userError(error.message, hints[error.code]);
  }
}

/** Of several forms that a value may have, what is wrong with the one that was meant: it is of that type. */
function alternative(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const isOtherType = ({ code, path }: z.core.$ZodIssue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
  const meant = issue.errors.find((issues) => !issues.some(isOtherType));
  return meant?.flatMap((one) => alternative({ ...one, path: [...issue.path, ...one.path] })) ?? [issue];
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .map((key) => `"${cleanText([...issue.path, key].join('.'))}" is not an option`)
      .join('; ');
  }
  return `${issue.path.length === 0 ? 'the options' : issue.path.join('.')}: ${issue.message}`;
}
