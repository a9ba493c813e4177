import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, parse } from 'node:path';
import type { Driver } from 'unstorage';
import { z } from 'zod';
import { certificateFlaw } from '../client/certificates.ts';
import { defaultPatience } from '../client/limits.ts';
import { errorTable } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';
import { quote } from '../text/clean-text.ts';
import { parseDuration } from '../text/format.ts';
import { didYouMean, intendedName } from '../text/intended-name.ts';
import type { ParsedOptions, SnippetsOptions } from './options.ts';

const pemSchema = z.string().superRefine((text, context) => {
  const flaw = certificateFlaw(text);
  if (flaw === undefined) return;
  const hint = text.includes('-----')
    ? ''
    : ', and must be the text of a certificate, not the path of a file. A path goes into SNIPPETS_CA_FILE';
  context.addIssue({ code: 'custom', message: `${flaw}${hint}` });
});

const durationSchema = z
  .string()
  .transform(parseDuration)
  .pipe(z.number('must be a duration with its unit, such as "30s" or "7d"'));

const driverSchema = z.union([
  z.string().refine(isDriverName, {
    error: ({ input }) =>
      `must be the name of an unstorage driver, such as "redis". ${didYouMean(String(input), driverNames())}`.trim(),
  }),
  z.custom<Driver>(
    (value) => typeof (value as Partial<Driver> | null)?.getItem === 'function',
    'must be an unstorage driver, or the name of one',
  ),
]);

const functionOf = <T>() => z.custom<T>((value) => typeof value === 'function', 'must be a function');

const hostSchema = z
  .string()
  .refine(
    (text) => /^[^\s/?#@*\\]+$/.test(text) && URL.canParse(`https://${text}`),
    'must be a host, such as "cdn.example", without a scheme and a path',
  )
  .transform((text) => new URL(`https://${text}`).host);

const patternsSchema = z
  .union([z.string(), z.array(z.string())])
  .transform((patterns) => [patterns].flat())
  .refine(
    (patterns) => patterns.every((pattern) => pattern.trim() !== ''),
    'must be a glob pattern, not an empty text',
  )
  // Several patterns exclude what any of them matches.
  .refine(
    (patterns) => patterns.length < 2 || !patterns.some((pattern) => /^!(?!\()/.test(pattern)),
    'has a pattern that begins with "!" beside others, which excludes all other files. Write "docs/!(a|b)/**" instead',
  );

const cacheSchema = z.strictObject({
  driver: driverSchema.optional(),
  options: z.record(z.string(), z.unknown()).optional(),
  maxAge: durationSchema.default(0),
});

const imagesSchema = z.strictObject({ hosts: z.array(hostSchema).min(1, 'must name a host') });

/** Makes `tsc` compare each schema with the type of its option, and report options without a schema. */
type OptionSchemas = {
  [Name in keyof Required<SnippetsOptions>]: z.ZodType<ParsedOptions[Name], SnippetsOptions[Name]>;
};

const optionSchemas = {
  renderBaseUrl: z.string().optional(),
  retrieveBaseUrl: z.string().optional(),
  ca: z.union([pemSchema, z.array(pemSchema)]).optional(),
  concurrency: z.int().min(1).max(1000).default(100),
  // Half an hour is enough for 100,000 snippets of a slow service, and shorter than a CI system waits.
  timeout: durationSchema.default(30 * 60_000),
  patience: durationSchema.default(defaultPatience),
  editUrl: functionOf<NonNullable<SnippetsOptions['editUrl']>>().optional(),
  editLinks: z.boolean().default(false),
  cache: z.union([z.literal(false), cacheSchema]).default({ maxAge: 0 }),
  staleIfError: durationSchema.default(0),
  offline: z.boolean().default(false),
  missingKey: z.enum(['error', 'children']).default('error'),
  exclude: patternsSchema.default([]),
  params: functionOf<NonNullable<SnippetsOptions['params']>>().optional(),
  sanitize: functionOf<NonNullable<SnippetsOptions['sanitize']>>().optional(),
  links: z.literal('base').optional(),
  scripts: z.enum(['allow', 'warn', 'strip', 'error']).default('warn'),
  strict: z.boolean().default(false),
  csp: z.literal('hash').optional(),
  images: imagesSchema.optional(),
  classes: z.boolean().default(false),
} satisfies OptionSchemas;

const optionsSchema = z
  .strictObject(optionSchemas)
  .refine(
    ({ cache, staleIfError, offline }) => cache !== false || (staleIfError === 0 && !offline),
    'staleIfError and offline need the cache, which is false',
  )
  .refine(
    ({ editLinks, editUrl }) => !editLinks || editUrl !== undefined,
    'editLinks needs editUrl, the function that says where a snippet is edited',
  );

/**
 * Validates the options of `snippets()`.
 *
 * @throws UserError that names every option that is invalid or unknown.
 */
export function parseOptions(
  options: unknown,
  headline = 'The options of snippets() in the Astro config are invalid',
): ParsedOptions {
  // `jitless`: options are parsed once, and compiling a parser, as Zod would, takes longer than that.
  const parsed = optionsSchema.safeParse(options, { jitless: true });
  if (parsed.success) return parsed.data;

  const flaws = parsed.error.issues.flatMap((issue) => findFlaws(issue));
  const advice = new Set(flaws.map(({ hint }) => hint ?? errorTable['invalid-options'].hint));
  const message = [`${headline}:`, ...flaws.map(({ text }) => text)].join('\n- ');
  throw userError('invalid-options', message, [...advice].join('\n'));
}

/** Whether unstorage has a driver with this name. Only its file is looked up; the driver is not loaded. */
function isDriverName(name: string): boolean {
  const require = createRequire(import.meta.url);
  return /^[a-z0-9-]+$/.test(name) && succeeds(() => require.resolve(`unstorage/drivers/${name}`));
}

function driverNames(): string[] {
  try {
    const aDriver = createRequire(import.meta.url).resolve('unstorage/drivers/fs');
    return readdirSync(dirname(aDriver)).flatMap((file) =>
      extname(file) === '.mjs' ? parse(file).name : [],
    );
  } catch {
    return [];
  }
}

function succeeds(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

/** Something that is wrong with an option. */
interface OptionFlaw {
  /** A line for people. */
  text: string;
  /** What to do about it, where there is more to say than "fix it". */
  hint?: string;
}

function findFlaws(issue: z.core.$ZodIssue, parentPath: readonly PropertyKey[] = []): OptionFlaw[] {
  const path = [...parentPath, ...issue.path];
  if (issue.code === 'invalid_union') {
    // If no alternative matches, only the flaws of the last one are shown: it is the most detailed.
    return issue.errors.at(-1)?.flatMap((nested) => findFlaws(nested, path)) ?? [];
  }
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownOption(key, path.join('.')));
  return [{ text: `${path.join('.') || 'the options'}: ${issue.message}` }];
}

/** The names of the options, by the option that has them; those of `snippets()` itself under an empty name. */
const optionNames: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(optionSchemas),
  cache: Object.keys(cacheSchema.shape),
  images: Object.keys(imagesSchema.shape),
};

/** @param holder the option that has this one, such as `cache`; empty for an option of `snippets()` itself */
function unknownOption(written: string, holder: string): OptionFlaw {
  const nameIn = (option: string, name: string) => [option, name].filter(Boolean).join('.');
  const names = optionNames[holder] ?? [];
  const text = `${quote(nameIn(holder, written))} is not an option`;

  const elsewhere = Object.entries(optionNames).find(([, others]) => others.includes(written));
  const intended = elsewhere ? nameIn(elsewhere[0], written) : intendedName(written, names);
  if (intended !== undefined) {
    const suggested = elsewhere ? intended : nameIn(holder, intended);
    return { text: `${text}. Did you mean \`${suggested}\`?` };
  }
  if (/key|token|secret|auth/i.test(written)) {
    return { text, hint: 'The API key is not an option: set SNIPPETS_API_KEY in the environment.' };
  }
  const subject = holder ? `The options of \`${holder}\`` : 'The options';
  return { text, hint: `${subject} are ${names.join(', ')}.` };
}
