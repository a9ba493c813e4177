import { SnippetError } from '../client/snippet-error.ts';
import type { ScriptRule, SnippetsOptions } from '../settings/options.ts';
import { quote } from '../text/clean-text.ts';
import { parseDuration } from '../text/format.ts';
import { didYouMean } from '../text/intended-name.ts';

/**
 * The options of `liveSnippetLoader()`. The API key is not one: the server reads it from its environment when a page
 * needs a snippet.
 */
export interface LiveSnippetOptions
  extends Pick<
    SnippetsOptions,
    'renderBaseUrl' | 'retrieveBaseUrl' | 'ca' | 'concurrency' | 'sanitize' | 'scripts' | 'strict' | 'links'
  > {
  /**
   * How long a page waits for a snippet. Then it gets an error.
   *
   * @default '3s'
   */
  timeout?: string | undefined;
  /**
   * How old the content may be that a page shows, such as `'10m'`. A page then shows the last content at once, while it
   * is asked for again, and also while the service is down. By default, every page waits for the service.
   */
  maxAge?: string | undefined;
}

/** The options once they are checked: durations in milliseconds. */
export interface ParsedLiveOptions
  extends Omit<LiveSnippetOptions, 'timeout' | 'maxAge' | 'scripts' | 'strict'> {
  scripts: ScriptRule;
  strict: boolean;
  timeout: number;
  /** `0` for no memory. */
  maxAge: number;
}

const liveOptionNames: readonly (keyof LiveSnippetOptions)[] = [
  'renderBaseUrl',
  'retrieveBaseUrl',
  'ca',
  'concurrency',
  'sanitize',
  'scripts',
  'strict',
  'links',
  'timeout',
  'maxAge',
];

const scriptRules: Record<ScriptRule, true> = { allow: true, warn: true, strip: true, error: true };

/** Checks the options. Base URLs and certificates are checked by the client. @throws SnippetError `invalid-options` */
export function parseLiveOptions(options: LiveSnippetOptions): ParsedLiveOptions {
  const names: readonly string[] = liveOptionNames;
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const guess = didYouMean(unknown, names) || `There are ${names.join(', ')}.`;
    throw invalidOption(`${quote(unknown)} is not an option. ${guess}`);
  }
  const { sanitize, scripts = 'warn', strict = false, links } = options;
  if (sanitize !== undefined && typeof sanitize !== 'function')
    throw invalidOption('sanitize must be a function.');
  if (!Object.hasOwn(scriptRules, scripts)) {
    throw invalidOption("scripts must be 'allow', 'warn', 'strip' or 'error'.");
  }
  if (typeof strict !== 'boolean') throw invalidOption('strict must be true or false.');
  if (links !== undefined && links !== 'base') throw invalidOption("links must be 'base'.");

  const timeout = durationOf('timeout', options.timeout ?? '3s');
  if (timeout === 0) throw invalidOption('timeout must be longer than nothing.');
  return { ...options, scripts, strict, timeout, maxAge: durationOf('maxAge', options.maxAge ?? '0s') };
}

function durationOf(name: string, value: unknown): number {
  const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
  if (milliseconds !== undefined) return milliseconds;
  throw invalidOption(`${name} must be a duration with its unit, such as "3s" or "10m".`);
}

const invalidOption = (flaw: string) =>
  new SnippetError('invalid-options', `The options of liveSnippetLoader() are invalid: ${flaw}`);
